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
  run.watchers.add(watcher);
  await run.requestApproval(CALL, signal);
  const [long, ...short] = asked.map(({ call_id }) => call_id);
  expect(short).toEqual(['call_0', 'call_0']);
  expect(long).toHaveLength(64);
});
