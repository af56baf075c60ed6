import { expect, test } from 'vitest';
import { createRefusalLog } from './refusal-log.ts';

test('a flood of refused requests fills no log, and those of the next minute are logged again', () => {
  let now = 0;
  const lines: object[] = [];
  const refused = createRefusalLog({ info: (fields) => void lines.push(fields) }, () => now);
  for (let at = 0; at < 10_000; at++) refused({ reason: 'missing' });
  expect(lines).toHaveLength(100);
  now = 61_000;
  refused({ reason: 'invalid' });
  expect(lines.at(-1)).toEqual({ reason: 'invalid' });
});
