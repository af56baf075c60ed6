import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { writeStatus } from '../kube/write-status.ts';
import { objectOf } from '../testing/objects.ts';
import { toCustomObject } from './custom-object.ts';
import { packBody, unpackBody } from './packed-body.ts';

const BODY = { name: 'checkout', steps: [{ name: 'look', prompt_template: 'Look at {{summary}}. '.repeat(500) }] };

test('a body is kept in two short lines, and read again', () => {
  const packed = packBody(BODY);
  expect(Object.keys(packed)).toEqual(['hash', 'gzip']);
  expect(packed.hash).toMatch(/^[0-9a-f]{32}$/);
  expect(JSON.stringify(packed).length).toBeLessThan(400);
  expect(unpackBody({ ...packed })).toEqual(BODY);
});

test('a status of an earlier version is read, and what is no body counts as none', () => {
  expect(unpackBody(BODY)).toEqual(BODY);
  for (const gzip of ['', 'nonsense', Buffer.from('text').toString('base64')])
    expect(unpackBody({ gzip })).toBeUndefined();
});

test('what is written to an object comes back from it', async () => {
  let written: unknown;
  const patchNamespacedCustomObjectStatus = async ({ body }: { body: { path: string; value: unknown }[] }) => {
    written = body.find(({ path }) => path === '/status')?.value;
    return {};
  };
  const cluster = { custom: { patchNamespacedCustomObjectStatus } } as unknown as Parameters<typeof writeStatus>[0];
  await writeStatus(cluster, objectOf(), { conditions: [], replicas: [], lastAccepted: BODY });
  expect(written).toMatchObject({ lastAccepted: { hash: expect.any(String) as string } });
  const metadata = { name: 'a', namespace: 'b', uid: 'c', resourceVersion: '1' };
  expect(toCustomObject('Pipeline', { metadata, status: written })?.status.lastAccepted).toEqual(BODY);
});

test.each(['[],'.repeat(1_000_000) + '1', '['.repeat(9000) + ']'.repeat(9000)])(
  'a packed body that no definition has counts as none',
  (list) => {
    expect(unpackBody({ gzip: gzipSync(`{"name":"a","tags":[${list}]}`).toString('base64') })).toBeUndefined();
  },
);
