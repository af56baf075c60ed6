import { expect, test } from 'vitest';
import type { Cost } from './measure.ts';
import type { Question } from './questions.ts';
import { rowOf } from './table.ts';

const QUESTION: Question = { what: 'runs', path: () => '/runs', goal: 10 };
const cost = (cpu: number): Cost => ({ cpu, loop: cpu, wall: cpu, first: cpu, bytes: 1 });
const column = (steps: number, cpu: number) => ({ steps, bytesARun: 1, costs: new Map([['runs', cost(cpu)]]) });

test.each([
  ['a history of another size meets and misses no goal', [column(20_000, 15)], null],
  ['at the size of the goals a cost below it is met', [column(1_000_000, 9)], []],
  ['a cost above it is missed', [column(1_000_000, 11)], ['CPU']],
  ['what grows with the history is missed at any size', [column(20_000, 6), column(200_000, 12)], ['ratio']],
  ['both are said', [column(100_000, 6), column(1_000_000, 30)], ['CPU', 'loop', 'ratio']],
])('%s', (_, columns, missed) => {
  expect(rowOf(QUESTION, columns).missed).toEqual(missed);
});
