import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBudget } from './budget.ts';
import { diffLines } from './diff-lines.ts';
import { sideBySide } from './side-by-side.ts';

const plenty = () => createBudget({ bytes: 1_000_000, ms: 10_000 });
const sides = (before: string, after: string, budget = plenty()) => sideBySide(diffLines(before, after) ?? [], budget);
const textOf = ({ parts }: { parts: { text: string }[] }) => parts.map(({ text }) => text).join('');

test('a changed line stands beside the one it replaces, with the changed words marked', () => {
  const { rows } = sides('Look at the logs.\nAnswer.', 'Look at the metrics.\nAnswer.');
  expect(rows).toEqual([
    {
      gap: null,
      left: {
        look: 'removed',
        parts: [
          { text: 'Look at the ', changed: false },
          { text: 'logs', changed: true },
          { text: '.', changed: false },
        ],
      },
      right: {
        look: 'added',
        parts: [
          { text: 'Look at the ', changed: false },
          { text: 'metrics', changed: true },
          { text: '.', changed: false },
        ],
      },
    },
    { gap: null, left: expect.objectContaining({ look: 'kept' }), right: expect.objectContaining({ look: 'kept' }) },
  ]);
});

test('lines with little in common are marked as a whole, and a line without a partner stands alone', () => {
  const { rows } = sides('abc def ghi', 'something entirely different here\nand more');
  expect(rows.map(({ left, right }) => [left.look, right.look, right.parts.length])).toEqual([
    ['removed', 'added', 1],
    ['none', 'added', 1],
  ]);
});

const line = fc.string({ maxLength: 12 }).map((text) => text.replaceAll(/[\r\n\v\f\u0085\u2028\u2029]/g, ' '));
const text = fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => lines.join('\n'));

test('each side shows lines of its text as they are', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after);
      const { rows } = sides(before, after);
      const shown = (side: 'left' | 'right') =>
        rows.filter((row) => row.gap === null && row[side].look !== 'none').map((row) => textOf(row[side]));
      for (const row of shown('left')) expect(before.split('\n')).toContain(row);
      for (const row of shown('right')) expect(after.split('\n')).toContain(row);
    }),
  );
});

test('what is shown stops at the room of the page, escaped characters counted as they are sent', () => {
  const quotes = '"'.repeat(1000);
  const { rows, cut } = sides(
    '',
    Array.from({ length: 100 }, () => quotes).join('\n'),
    createBudget({ bytes: 60_000, ms: 1 }),
  );
  expect([rows.length, cut]).toEqual([9, true]);
});
