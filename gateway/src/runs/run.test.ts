import { expect, test } from 'vitest';
import { Run, type RunWatcher, type ShownRequest } from './run.ts';

const CALL = { call_id: 'call_0', server: 'cluster', tool: 'restart', input: { name: 'checkout' }, reason: null };

/** A run, with the questions that its watcher gets. */
function followed() {
  const asked: ShownRequest[] = [];
  const watcher: RunWatcher = {
    approves: 'all',
    event: () => {},
    requestApproval: async (_, request) => {
      asked.push(request);
      return { approved: true, input_sha256: request.input_sha256 };
    },
  };
  const run = new Run('run-1', { agent: 'careful', input: '', idempotency_key: 'run-1/step/1' }, watcher);
  return { run, watcher, asked, signal: run.signal() };
}

test('two calls to which a model gives one id are two questions', async () => {
  const { run, asked, signal } = followed();
  await run.requestApproval(CALL, signal);
  await run.requestApproval(CALL, signal);
  await run.requestApproval({ ...CALL, call_id: 'call_1' }, signal);
  const [first, second, third] = asked.map(({ call_id }) => call_id);
  expect([first, third]).toEqual(['call_0', 'call_1']);
  expect(second).not.toBe(first);
});

test('an id of a call is kept short, and once the run is over not at all', async () => {
  const { run, watcher, asked, signal } = followed();
  await run.requestApproval({ ...CALL, call_id: 'x'.repeat(5_000) }, signal);
  await run.requestApproval(CALL, signal);
  run.finish({ ok: true, json: '{}' });
  run.watchers.set(watcher, []);
  await run.requestApproval(CALL, signal);
  const [long, ...short] = asked.map(({ call_id }) => call_id);
  expect(short).toEqual(['call_0', 'call_0']);
  expect(long).toHaveLength(64);
});

const END = { ok: true, json: '"end"' };
const watcher = (event: RunWatcher['event'] = () => {}): RunWatcher => ({
  approves: 'own',
  event,
  requestApproval: () => Promise.reject(new Error('nobody decides')),
});

test('16 answers of one watcher wait for a run and 64 in all; who leaves makes room, and after the end none waits', async () => {
  const [first, ...others] = Array.from({ length: 5 }, () => watcher()) as [RunWatcher, ...RunWatcher[]];
  const run = new Run('run-1', { agent: 'a', input: '' }, first);
  const taken = (one: RunWatcher) =>
    Array.from({ length: 20 }, () => run.watch(one)).filter((answer) => answer !== null);
  const answers = taken(first);
  expect(answers).toHaveLength(16);
  expect(others.map((one) => taken(one).length)).toEqual([16, 16, 16, 0]);
  run.watchers.delete(others[0] as RunWatcher);
  expect(run.watch(watcher())).not.toBeNull();
  run.finish(END);
  expect(await Promise.all(answers)).toEqual(answers.map(() => END));
  expect(await run.watch(first)).toEqual(END);
});

test('an event is encoded once for all watchers, when the first of them sends it', () => {
  let encoded = 0;
  const told: (() => string)[] = [];
  const tell: RunWatcher['event'] = (_run, _event, text) => void told.push(text);
  const run = new Run('run-1', { agent: 'a', input: '', idempotency_key: 'k' }, watcher(tell));
  void run.watch(watcher(tell));
  run.emit({
    event: 'tool_denied',
    call_id: '1',
    server: 's',
    tool: 't',
    reason: { toJSON: () => `${++encoded}` } as never,
  });
  expect(encoded).toBe(0);
  const texts = told.map((text) => JSON.parse(text()) as object);
  const event = { run_id: 'run-1', idempotency_key: 'k', event: 'tool_denied', reason: '1', ts: expect.any(String) };
  expect(texts).toEqual([expect.objectContaining(event), expect.objectContaining(event)]);
});
