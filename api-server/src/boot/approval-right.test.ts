import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AgentBackend } from '../runs/state/executor.ts';
import { createApprovalRight } from './approval-right.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function watched(answers: ('all' | 'own' | 'none' | null)[]) {
  const logged: unknown[] = [];
  const approvals = vi.fn<() => Promise<string | null>>(() =>
    Promise.resolve(answers.length > 1 ? (answers.shift() ?? null) : (answers[0] ?? null)),
  );
  const backend = { name: 'gateway', approvals } as unknown as AgentBackend;
  const log = { warn: (line: unknown) => logged.push(line) } as unknown as Parameters<typeof createApprovalRight>[1];
  const right = createApprovalRight([backend], log);
  right.watch();
  return { right, logged, approvals };
}
const minutes = (count: number) => vi.advanceTimersByTimeAsync(count * 60_000);
const WARNING = expect.stringContaining('is not the approve token of the gateway');

test('a gateway that answers late is asked until it does, and what it denies is said once in the log and in the warnings', async () => {
  const { right, logged } = watched([null, null, 'none']);
  await minutes(1);
  expect([logged, right.warnings()]).toEqual([[], []]);
  await minutes(3);
  expect([logged, right.warnings()]).toEqual([[WARNING], [WARNING]]);
  right.close();
});

test('the warning goes when the token is right after a restart of the gateway, and stays while it is away', async () => {
  const { right, approvals } = watched(['none', null, 'all']);
  await minutes(1);
  expect(right.warnings()).toEqual([WARNING]);
  await minutes(1);
  expect(right.warnings()).toEqual([]);
  right.close();
  const asked = approvals.mock.calls.length;
  await minutes(5);
  expect(approvals).toHaveBeenCalledTimes(asked);
});

test.each(['all', 'own'] as const)('a token that may answer %s approvals is no reason to warn', async (answer) => {
  const { right, logged } = watched([answer]);
  await minutes(2);
  expect([logged, right.warnings()]).toEqual([[], []]);
  right.close();
});
