import { expect, test } from 'vitest';
import type { Problem } from '../problem.ts';
import { createResolveMemo } from './resolve-memo.ts';
import { resolveSet, type ResolvedSet } from './resolve-set.ts';

const MIB = 1024 * 1024;
const texts = (count: number, textOf: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => textOf(index)).join('');
const long = (index: number) => `${'ā'.repeat(430)}${index}`;
const loud = (count: number) => ({
  file: 's.yaml',
  text: `name: s\nexecutor: gateway\nagent: a\nprompt_template: '${texts(count, (index) => `{{steps.${long(index)}}}`)}'`,
});
const uses = (namespace: string, from: number, count: number, more = '') =>
  Array.from({ length: count }, (_, index) => ({
    file: `${namespace}/${1000 + from + index}.yaml`,
    text: `name: ${namespace}-${from + index}\nsteps: [{name: a, use: s}]\n${more}`,
    namespace,
  }));

const tenancy = { open: true, library: [''], namespaces: {}, home: 'release' };
function reader() {
  const memo = createResolveMemo();
  return (pipelines: ReturnType<typeof uses>, steps = [loud(25)]): ResolvedSet => {
    using _pass = memo.pass();
    return resolveSet({ pipelines, steps, operator: { tenancy } }, memo);
  };
}

const charsOf = (problems: readonly Problem[]): number =>
  problems.reduce((sum, { loc, msg }) => sum + msg.length + loc.join('.').length, 0);
const ofFile = ({ problems }: ResolvedSet, file: string | undefined) => problems.filter((one) => one.file === file);
const inFull = (set: ResolvedSet) =>
  [...Map.groupBy(set.problems, ({ file }) => file).values()].filter((of) => of.length > 2);

test('the problems of the definitions of a namespace have a sum, and each definition keeps one', () => {
  const read = reader();
  const pipelines = uses('shop', 0, 500);
  const set = read(pipelines);
  expect(set.pipelines).toHaveLength(500);
  expect(charsOf(set.problems)).toBeLessThan(MIB / 2);
  expect(inFull(set).length).toBeGreaterThan(10);
  for (const { file } of pipelines) expect(ofFile(set, file).length).toBeGreaterThan(0);
  const brief = ofFile(set, pipelines.at(-1)?.file);
  expect(brief.map(({ severity, msg }) => [severity, msg])).toEqual([
    ['warning', `${`steps.${long(0)}`.slice(0, 100)}…`],
    ['warning', 'and more problems, which have no room beside those of other definitions'],
  ]);
  expect(read(pipelines).problems).toEqual(set.problems);
});

test('what did not change keeps its problems where others come, and gets room where others go', () => {
  const read = reader();
  const first = read(uses('shop', 100, 100));
  const known = inFull(first).length;
  const more = read([...uses('shop', 0, 100), ...uses('shop', 100, 100)]);
  expect(more.problems.filter(({ file }) => file >= 'shop/1100')).toEqual(first.problems);
  expect(inFull(more)).toHaveLength(known);
  for (let pass = 0; pass < 3; pass++) read(uses('shop', 190, 10));
  expect(inFull(read(uses('shop', 190, 10)))).toHaveLength(10);
});

test('a step that changes leaves as many of its pipelines in full as before', () => {
  const read = reader();
  const known = inFull(read(uses('shop', 0, 100))).length;
  for (let pass = 0; pass < 4; pass++) read(uses('shop', 0, 100), [loud(24)]);
  expect(inFull(read(uses('shop', 0, 100), [loud(24)]))).toHaveLength(known);
});

test('errors have room where warnings have none, and no namespace takes that of another or of the operator', () => {
  const read = reader();
  const broken = uses(
    'shop',
    500,
    1,
    texts(10, (index) => `unknown_key_${index}: 1\n`),
  );
  const set = read([...uses('shop', 0, 200), ...broken, ...uses('other', 0, 1), ...uses('release', 0, 1)]);
  expect(ofFile(set, 'shop/1500.yaml').filter(({ severity }) => severity === 'error')).toHaveLength(10);
  expect(ofFile(set, 'other/1000.yaml').length).toBeGreaterThan(10);
  const many = read([...Array.from({ length: 30 }, (_, at) => uses(`t${at}`, 0, 40)).flat(), ...uses('release', 0, 1)]);
  expect(charsOf(many.problems)).toBeLessThan(4 * MIB);
  expect(ofFile(many, 'release/1000.yaml').length).toBeGreaterThan(10);
});

test('a shell check of its own is not lost where a definition has no room', () => {
  const check = 'deterministic_checks: [{type: shell, name: c, run: id}]';
  const own = `- {name: b, executor: gateway, agent: a, prompt_template: x, ${check}}`;
  const last = { file: 'shop/9.yaml', text: `name: last\nsteps:\n- {name: a, use: s}\n${own}`, namespace: 'shop' };
  const set = reader()([...uses('shop', 0, 100), last]);
  expect(ofFile(set, last.file)[0]).toMatchObject({
    reason: 'shell_not_allowed',
    loc: ['steps', 1, 'deterministic_checks', 0, 'run'],
  });
});

test('warnings about agents that are not defined are part of that sum', () => {
  const memo = createResolveMemo();
  const agentNamed = (name: string) => ({
    file: `${name}/agent.yaml`,
    text: `name: ${name}\nmodel: m\n`,
    soul: 'Answer.',
  });
  const agents = Array.from({ length: 12 }, (_, at) => agentNamed(`${'a'.repeat(50)}${at}`));
  const calling = (at: number) => ({ name: `s${at}`, executor: 'gateway', agent: `b${at}`, prompt_template: 'x' });
  const pipelines = Array.from({ length: 120 }, (_, at) => ({
    file: `shop/p${at}.yaml`,
    namespace: 'shop',
    text: JSON.stringify({ name: `p${at}`, steps: Array.from({ length: 20 }, (__, n) => calling(n)) }),
  }));
  const resolve = () => {
    using _pass = memo.pass();
    return resolveSet({ pipelines, steps: [], agents, operator: { tenancy } }, memo);
  };
  const set = resolve();
  expect(set.problems[0]?.msg).toContain('no agent "b0" is defined here');
  expect(charsOf(set.problems)).toBeLessThan(MIB / 2);
  expect(inFull(set).length).toBeGreaterThan(10);
  expect(resolve().problems).toEqual(set.problems);
});
