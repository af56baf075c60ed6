import { expect, test } from 'vitest';
import { SHARE } from '../replays/used-facts.ts';
import { moneyIn, numberFact, SECONDS, TOKENS, type Unit } from './facts.ts';

test.each<[Unit, number, number, string, string]>([
  [TOKENS, 900, 700, '−200', 'good'],
  [SECONDS, 4, 9, '+5.0 s', 'bad'],
  [moneyIn('EUR'), 0.001, 0.002, '+€0.0010', 'bad'],
  [moneyIn('EUR'), 0.00104, 0.00102, '±0', 'quiet'],
  [SHARE, 0.857, 0, '−85.7 points', 'bad'],
  [SHARE, 0.5, 0.5002, '±0', 'quiet'],
])('a difference %#', (unit, a, b, delta, tone) => {
  expect(numberFact('It', [a, b], unit)).toMatchObject({ delta, tone });
});
