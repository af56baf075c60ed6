import { expect, test } from 'vitest';
import { writeStatus } from '../kube/write-status.ts';
import { objectOf } from '../testing/objects.ts';
import { toCustomObject } from './custom-object.ts';
import { packBody, packedIn, unpackBody } from './packed-body.ts';

const BODY = { name: 'checkout', steps: [{ name: 'look', prompt_template: 'Look at {{summary}}. '.repeat(500) }] };

test('a body is kept in two short lines, and read again', () => {
  const packed = packBody(BODY);
  expect(Object.keys(packed)).toEqual(['hash', 'gzip']);
  expect(packed.hash).toMatch(/^[0-9a-f]{32}$/);
  expect(JSON.stringify(packed).length).toBeLessThan(400);
  expect(unpackBody(packed)).toEqual(BODY);
});

test('a status of an earlier version is read, and what is no body counts as none', () => {
  expect(unpackBody(packedIn(BODY))).toEqual(BODY);
  for (const gzip of ['', 'nonsense', Buffer.from('text').toString('base64')])
    expect(unpackBody(packedIn({ gzip }))).toBeUndefined();
});

test('what is written to an object comes back from it', async () => {
  let written: unknown;
  const patchNamespacedCustomObjectStatus = async ({ body }: { body: { path: string; value: unknown }[] }) => {
    written = body.find(({ path }) => path === '/status')?.value;
    return {};
  };
  const cluster = { custom: { patchNamespacedCustomObjectStatus } } as unknown as Parameters<typeof writeStatus>[0];
  await writeStatus(cluster, objectOf(), { conditions: [], replicas: [], lastAccepted: packBody(BODY) });
  expect(written).toMatchObject({ lastAccepted: { hash: expect.any(String) as string } });
  const metadata = { name: 'a', namespace: 'b', uid: 'c', resourceVersion: '1' };
  const read = toCustomObject('Pipeline', { metadata, status: written })?.status.lastAccepted;
  expect(read && unpackBody(read)).toEqual(BODY);
});

test('a body that did not change stays as it was packed, and one of another hash counts as none', () => {
  const packed = packBody(BODY);
  expect(packBody({ ...BODY }, packed)).toBe(packed);
  const changed = packBody({ ...BODY, stage: 'production' }, packed);
  expect(unpackBody(changed)).toEqual({ ...BODY, stage: 'production' });
  expect(unpackBody({ hash: packed.hash, gzip: changed.gzip })).toBeUndefined();
});

const long = (chars: number) => ({ name: 'a', description: 'x'.repeat(chars) });

test.each([
  ['values', { name: 'a', tags: Array.from({ length: 1_000_000 }, () => []) }],
  ['levels', JSON.parse(`{"name":"a","tags":${'['.repeat(128)}${']'.repeat(128)}}`) as object],
  ['text', long(5_000_000)],
])('a packed body of more %s than any definition has counts as none', (_what, body) => {
  expect(unpackBody(packBody({ ...body }))).toBeUndefined();
  expect(unpackBody(packBody(long(3_000_000)))).toEqual(long(3_000_000));
});
