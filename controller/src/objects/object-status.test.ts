import { expect, test } from 'vitest';
import { toCustomObject, withoutSpec } from './custom-object.ts';
import type { ObjectStatus } from './object-status.ts';
import { createWorld } from './world.ts';

const NONE = { conditions: [], replicas: [] };
const lastAccepted = { hash: 'h', gzip: 'H4sI' };
const condition = (message: string) => ({ type: 'Accepted', status: 'True' as const, reason: 'Accepted', message });

function read(status: object, uid = 'a') {
  const metadata = { name: uid, namespace: 'shop', uid, generation: 1, resourceVersion: '1' };
  return toCustomObject('Pipeline', { metadata, spec: { steps: [] }, status })!;
}

test.each([
  ['message', { conditions: [condition('x'.repeat(300_000))] }],
  ['name of a pod', { replicas: [{ pod: 'x'.repeat(300_000) }] }],
  ['unknown part', { other: 'x'.repeat(300_000) }],
])('a status with a %s longer than all of ours counts as none', (_, long) => {
  expect(read({ ...long, lastAccepted }).status).toEqual(NONE);
});

test('a long hash of what was accepted last is not kept, and a long body is as it was written', () => {
  expect(read({ lastAccepted: { hash: 'x'.repeat(129), gzip: 'H4sI' } }).status.lastAccepted?.hash).toBe('');
  const gzip = 'x'.repeat(1_000_000);
  expect(read({ lastAccepted: { hash: 'h', gzip } }).status.lastAccepted).toEqual({ hash: 'h', gzip });
});

test.each([
  ['texts', { conditions: [condition('x'.repeat(200_000))] }],
  ['values', { lastRun: Array.from({ length: 10_000 }, () => []) }],
])('large statuses of many %s fill the room of their namespace', (_, status) => {
  const { scopes } = createWorld({ kinds: ['Pipeline'], namespaces: [], home: 'ops', times: 1, now: () => 0 });
  const { store } = scopes[0]!;
  store.replace(Array.from({ length: 100 }, (__, at) => read(status, `a-${at}`)));
  const left = store.objects().filter(({ crowded }) => crowded);
  expect(left.length).toBeGreaterThan(50);
  expect(left[0]?.status).toEqual(NONE);
});

test('of an object without room a status as we write it stays, without the tools of an agent where they are many', () => {
  const usual: ObjectStatus = { conditions: [condition('x'.repeat(3000))], replicas: [], promoted: true };
  const tools = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ server: 'a', name: `t-${at}`, hash: 'h' }));
  const left = (discoveredTools: object[]) => withoutSpec(read({ ...usual, discoveredTools })).status;
  expect(left(tools(10))).toEqual({ ...usual, discoveredTools: tools(10) });
  expect(left(tools(1000))).toEqual(usual);
});

test('of an object without room it stays known that it was promoted, however large its status is', () => {
  const large = { conditions: [condition('x'.repeat(20_000))], replicas: [], stage: 'production', promoted: true };
  expect(withoutSpec(read(large)).status).toEqual({ ...NONE, stage: 'production', promoted: true });
});

test('of an agent without room its version stays, however large its status is', () => {
  const left = (agentVersion: string) =>
    withoutSpec(read({ conditions: [condition('x'.repeat(20_000))], agentVersion })).status;
  expect(left('v1')).toEqual({ ...NONE, agentVersion: 'v1' });
  expect(left('v'.repeat(129))).toEqual(NONE);
});
