import { expect, test } from 'vitest';
import type { ApprovalRight } from '../identity/authenticate.ts';
import { Run, type RunWatcher } from '../runs/run.ts';
import { watched } from '../runs/submitted.ts';
import { createMethods } from './methods.ts';
import { createRequestRoom } from './request-room.ts';

const FULL = { error: { data: { type: 'at_capacity' } } };

const watcher = (approves: ApprovalRight, token: string): RunWatcher => ({
  approves,
  caller: { token, address: '' },
  event: () => {},
  requestApproval: () => Promise.reject(new Error('nobody there')),
});
const apiServer = () => watcher('all', 'approve');
const program = () => watcher('none', 'invoke');

/** Methods with room for calls of 800 bytes, and runs that go on until they are ended. */
function world() {
  const runs = new Map<string, Run>();
  const find = ({ idempotency_key: key = '' }) => runs.get(key);
  const answer = createMethods({
    version: '0',
    listAgents: () => [],
    takeRoom: createRequestRoom(800),
    join: (params, by) => {
      const known = find(params);
      return known ? watched(known, by, true) : null;
    },
    submit: (params, by) => {
      const run = new Run('r', params, by);
      runs.set(params.idempotency_key ?? '', run);
      return watched(run, by, false);
    },
    find,
    cancel: () => true,
  });
  const ask = (by: RunWatcher, method: string, params?: object, bytes = 100) =>
    answer({ jsonrpc: '2.0', id: 1, method, params }, by, bytes);
  const start = (by: RunWatcher, namespace: string, key: string, bytes?: number) =>
    ask(by, 'agent.run', { agent: 'a', input: '', idempotency_key: key, metadata: { namespace } }, bytes);
  /** How many calls of 100 bytes find room. */
  const fill = async (by: RunWatcher, namespace: string) => {
    for (let count = 0; ; count++)
      if ('error' in (await start(by, namespace, `${namespace} ${count} ${runs.size}`))) return count;
  };
  return { ask, start, fill, end: (key: string) => runs.get(key)?.finish({ ok: true, json: '1' }) };
}

test('calls of one namespace hold half of what the others leave, also on one connection, until their runs end', async () => {
  const { start, fill, end } = world();
  const client = apiServer();
  const keys = ['1', '2', '3', '4'];
  for (const key of keys) expect(await start(client, 'shop', key)).toHaveProperty('held');
  expect([await fill(client, 'shop'), await fill(apiServer(), 'blog'), await fill(client, 'docs')]).toEqual([0, 2, 1]);
  for (const key of keys) end(key);
  await Promise.resolve();
  expect(await fill(client, 'shop')).toBe(2);
});

test('where a namespace has no room, its runs are joined, and all other requests are answered', async () => {
  const { ask, start, fill } = world();
  const client = apiServer();
  await start(client, 'shop', 'first', 400);
  expect(await fill(client, 'shop')).toBe(0);
  expect(await start(apiServer(), 'shop', 'first', 400)).toMatchObject({ held: null });
  for (const method of ['ping', 'server.info', 'agents.list'])
    expect(await ask(client, method, undefined, 1000)).toMatchObject({ ok: true });
  expect(await ask(client, 'agent.attach', { idempotency_key: 'first' }, 1000)).toMatchObject({ held: null });
  expect(await ask(client, 'agent.cancel', { idempotency_key: 'first' }, 1000)).toMatchObject({ ok: true });
  expect(await start(client, 'shop', 'second', 401)).toMatchObject(FULL);
});

test('programs with the invoke token have a quarter each and half together, whatever namespaces they name', async () => {
  const { fill } = world();
  const one = program();
  expect([await fill(one, 'x'), await fill(one, 'y')]).toEqual([2, 0]);
  expect([await fill(program(), 'x'), await fill(program(), 'z')]).toEqual([2, 0]);
  expect(await fill(apiServer(), 'shop')).toBe(2);
});
