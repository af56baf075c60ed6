import { expect, test } from 'vitest';
import { RunnerState } from './protocol.ts';

test('a pod that says it has tools without end is refused by their number, not by each of them', () => {
  const tools = Array.from({ length: 100_000 }, () => ({}));
  expect(RunnerState.safeParse({ draining: false, tools }).error?.issues).toHaveLength(1);
});
