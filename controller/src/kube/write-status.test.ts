import { expect, test } from 'vitest';
import { objectOf } from '../testing/objects.ts';
import type { Cluster } from './cluster.ts';
import { writeStatus } from './write-status.ts';

test.each([
  ['replaces the whole status', 'H4sI', ['/metadata/uid', '/status']],
  [
    'leaves a body that was left out here as it is in the cluster',
    '',
    ['/metadata/uid', '/status/conditions', '/status/replicas'],
  ],
])('a write %s', async (_, gzip, expected) => {
  let paths: string[] = [];
  const patch = async ({ body }: { body: { path: string }[] }) => void (paths = body.map(({ path }) => path));
  const custom = { patchNamespacedCustomObjectStatus: patch } as unknown as Cluster['custom'];
  await writeStatus({ custom }, objectOf(), { conditions: [], replicas: [], lastAccepted: { hash: 'h', gzip } });
  expect(paths).toEqual(expected);
});
