import { expect, test } from 'vitest';
import { linedJson } from './lined-json.ts';
import { answerText } from '../replay/judge-prompt.ts';
import { shownAnswer } from '../evidence/verify.ts';
import type { Answer } from './step-kind.ts';

const nested = (value: unknown, levels: number): unknown => (levels === 0 ? value : nested([value], levels - 1));

test.each([
  ['an ordinary call', { kind: 'Deployment', pods: [{ name: 'a', ports: [] }], replicas: 2 }],
  ['a short list that is deep', nested([1, 2], 20)],
  ['a long list of words', Array.from({ length: 20_000 }, (_, at) => `checkout-${at}`)],
])('%s has a line for each value', (_, input) => {
  expect(linedJson(input)).toBe(JSON.stringify(input, null, 2));
});

test('a list that indentation would make fifty times as long stays on one line, and is whole', () => {
  const input = nested(Array(20_000).fill(1), 58);
  expect(JSON.stringify(input, null, 2).length).toBeGreaterThan(2_000_000);
  expect(linedJson(input)).toBe(JSON.stringify(input));
});

test('a deep answer is shown whole to those who judge it, not the spaces before its values', () => {
  const answer = { summary: 's', output: { list: nested(Array(5_000).fill(1), 58) } };
  const text = JSON.stringify({ summary: 's', ...answer.output });
  expect([shownAnswer(answer as unknown as Answer), answerText(answer)]).toEqual([text, text]);
});
