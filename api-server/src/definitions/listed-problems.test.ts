import type { Problem } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { listedProblems } from './listed-problems.ts';

const problem = (file: string, severity: Problem['severity'], at: number): Problem => ({
  kind: 'Pipeline',
  name: file,
  file,
  severity,
  loc: ['steps', at],
  line: at,
  col: 1,
  msg: `${severity} ${at}`,
  reason: 'invalid',
});
const many = (file: string, severity: Problem['severity'], count: number) =>
  Array.from({ length: count }, (_, at) => problem(file, severity, at));

test('of each file the first problems are listed, and how many more it has', () => {
  const of = [...many('a', 'warning', 50), ...many('b', 'warning', 20), ...many('a', 'error', 22)];
  const { errors, warnings } = listedProblems(of);
  const said = (list: Problem[]) => list.map(({ file, msg }) => `${file}: ${msg}`);
  const first = (file: string, severity: string) => Array.from({ length: 20 }, (_, at) => `${file}: ${severity} ${at}`);
  expect(said(warnings)).toEqual([
    ...first('a', 'warning'),
    'a: and 30 more problems of this file',
    ...first('b', 'warning'),
  ]);
  expect(said(errors)).toEqual([...first('a', 'error'), 'a: and 2 more problems of this file']);
  expect(warnings[20]).toMatchObject({ kind: 'Pipeline', name: 'a', severity: 'warning', loc: [] });
  expect(warnings[20]).not.toHaveProperty('line');
  // The one that is left may say how many more of its definition there are.
  expect(said(listedProblems(many('c', 'error', 21)).errors).at(-1)).toBe('c: error 20');
});

test('of all files two thousand are listed, the first of each file and errors before others, and how many more there are', () => {
  const files = (severity: Problem['severity'], count: number) =>
    Array.from({ length: count }, (_, at) => many(`f${at}`, severity, 10)).flat();
  const { errors, warnings } = listedProblems([...files('warning', 400), ...files('error', 100)]);
  expect([errors.length, warnings.length]).toEqual([1000, 1001]);
  expect(new Set(warnings.map(({ file }) => file)).size).toBe(400);
  const msg = 'and 3000 more problems of this and other files';
  expect(warnings.at(-1)).toMatchObject({ severity: 'warning', kind: null, name: null, loc: [], msg });
  const of = listedProblems([...files('warning', 5), ...files('error', 2_500)]);
  expect([of.errors.length, of.warnings.length]).toEqual([2001, 1]);
  expect(new Set(of.errors.slice(0, -1).map(({ msg: said }) => said))).toEqual(new Set(['error 0']));
});
