import { expect, test } from 'vitest';
import { KeptAnswers } from './kept-answers.ts';

const replyOf = (chars: number) => Promise.resolve({ ok: true as const, result: 'x'.repeat(chars) });

test('the last 64 answers of a run are kept', async () => {
  const answers = new KeptAnswers(() => {});
  expect(answers.isEmpty).toBe(true);
  for (let ask = 1; ask <= 65; ask += 1) void answers.add(ask, replyOf(1));
  expect([answers.get(1), answers.get(2), answers.isEmpty]).toEqual([undefined, expect.any(Promise), false]);
});

test('of large answers 8 MiB are kept, and the last one whatever its size', async () => {
  const answers = new KeptAnswers(() => {});
  for (let ask = 1; ask <= 3; ask += 1) {
    await answers.add(ask, replyOf(3_500_000));
  }
  expect([1, 2, 3].map((ask) => answers.get(ask) !== undefined)).toEqual([false, true, true]);
  await answers.add(4, replyOf(9_000_000));
  expect([2, 3, 4].map((ask) => answers.get(ask) !== undefined)).toEqual([false, false, true]);
});

test('how much is kept is said, more and less', async () => {
  let held = 0;
  const answers = new KeptAnswers((chars) => (held += chars));
  for (const [ask, chars] of [4_000_000, 4_000_000, 1_000_000].entries()) {
    await answers.add(ask, replyOf(chars));
  }
  expect(Math.round(held / 1_000)).toBe(5_000);
  for (let ask = 3; ask < 67; ask += 1) void answers.add(ask, new Promise(() => {}));
  expect(held).toBe(0);
});
