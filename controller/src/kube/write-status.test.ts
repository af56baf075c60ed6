import { expect, test } from 'vitest';
import { type CustomObject, withoutAccepted } from '../objects/custom-object.ts';
import type { ObjectStatus } from '../objects/object-status.ts';
import { objectOf } from '../testing/objects.ts';
import type { Cluster } from './cluster.ts';
import { writeStatus } from './write-status.ts';

async function pathsOf(object: CustomObject, status: ObjectStatus): Promise<string[]> {
  let paths: string[] = [];
  const patch = async ({ body }: { body: { op: string; path: string }[] }) =>
    void (paths = body.map(({ op, path }) => `${op} ${path}`));
  const custom = { patchNamespacedCustomObjectStatus: patch } as unknown as Cluster['custom'];
  await writeStatus({ custom }, object, status);
  return paths;
}

const lastAccepted = { hash: 'h', gzip: 'H4sI' };
const whole = objectOf({ status: { lastAccepted, contentHash: 'h', scale: { replicas: 2 } } });
const wanted: ObjectStatus = { conditions: [], replicas: [], contentHash: 'h' };

test('a write replaces the whole status', async () => {
  expect(await pathsOf(whole, { ...wanted, lastAccepted })).toEqual(['test /metadata/uid', 'add /status']);
});

test('a write leaves a body that was left out here as it is in the cluster, and takes away what is not wanted', async () => {
  const object = withoutAccepted(whole);
  expect(await pathsOf(object, { ...wanted, lastAccepted: object.status.lastAccepted })).toEqual([
    'test /metadata/uid',
    'add /status/conditions',
    'add /status/replicas',
    'add /status/contentHash',
    'remove /status/scale',
  ]);
});
