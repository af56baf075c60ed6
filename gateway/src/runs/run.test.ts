import { expect, test } from 'vitest';
import { Run, type ShownRequest } from './run.ts';

test('two calls to which a model gives one id are two questions', async () => {
  const asked: ShownRequest[] = [];
  const run = new Run(
    'run-1',
    { agent: 'careful', input: '', idempotency_key: 'run-1/step/1' },
    {
      approves: 'all',
      event: () => {},
      requestApproval: async (_, request) => {
        asked.push(request);
        return { approved: true, input_sha256: request.input_sha256 };
      },
    },
  );
  const call = { call_id: 'call_0', server: 'cluster', tool: 'restart', input: { name: 'checkout' }, reason: null };
  await run.requestApproval(call, run.signal());
  await run.requestApproval(call, run.signal());
  await run.requestApproval({ ...call, call_id: 'call_1' }, run.signal());
  const [first, second, third] = asked.map(({ call_id }) => call_id);
  expect([first, third]).toEqual(['call_0', 'call_1']);
  expect(second).not.toBe(first);
});
