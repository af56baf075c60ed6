import {
  createResolveMemo,
  type Operator,
  type Problem,
  type ResolvedPipeline,
  resolveSetInTurns,
} from '@signalbox/crds';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Resolve, resolveRead } from './resolve-read.ts';

const STEPS = 'steps: [{ name: look, executor: gateway, agent: helper, prompt_template: x }]';

test('files that come and go leave nothing in memory', async () => {
  const memo = createResolveMemo();
  const options = {
    operator: {},
    memo,
    now: () => 0,
    resolve: (...input: [Parameters<typeof resolveSetInTurns>[0], typeof memo]) =>
      resolveSetInTurns(...input, { rest: setImmediate }),
  };
  const pipeline = (name: string) => ({
    file: `${name}.yaml`,
    text: `name: ${name}\ntrigger: {match: {team: a}}\n${STEPS}`,
  });
  const isKept = (name: string) =>
    ['read Pipeline', 'check Pipeline', 'match'].map(
      (what) => memo.find(`${what} ${name}.yaml`, () => true) !== undefined,
    );
  for (const name of ['first', 'second', 'third']) {
    const read = { pipelines: [pipeline(name), pipeline('stays')], steps: [], problems: [], home: null };
    await resolveRead(options, { read }, new Map());
  }
  expect(isKept('first')).toEqual([false, false, false]);
  expect(isKept('stays')).toEqual([true, true, true]);
});

describe('problems of this service', () => {
  const about = { severity: 'warning', kind: 'Pipeline', name: 'p', file: 'p.yaml', reason: 'invalid' } as const;
  const problem = (at: number): Problem => ({ ...about, loc: ['vars', 'x'.repeat(1000), at], msg: `${at}` });
  const reader = (problemsHere: (pipeline: ResolvedPipeline) => Iterable<Problem>) => {
    const memo = createResolveMemo();
    const resolve: Resolve = (...input) => resolveSetInTurns(...input, { rest: setImmediate });
    return (stepText: string, operator: Operator = {}, lastGood: [string, string][] = []) => {
      const pipelines = [{ file: 'p.yaml', text: 'name: p\nsteps: [{name: a, use: s}]' }];
      const steps = [{ file: 's.yaml', text: `name: s\nexecutor: human\ntimeout_seconds: 5\n${stepText}` }];
      const options = { operator, memo, now: () => 0, resolve, problemsHere };
      return resolveRead(options, { read: { pipelines, steps, problems: [], home: null } }, new Map(lastGood));
    };
  };

  test('of one pipeline the first twenty are looked for and listed, with short locations', async () => {
    let made = 0;
    const { problems } = await reader(function* () {
      for (;;) yield problem(made++);
    })('prompt_template: x');
    expect([made, problems.length]).toEqual([21, 21]);
    expect(problems[19]?.loc).toEqual(['vars', `${'x'.repeat(100)}…`, 19]);
    expect(problems[20]).toMatchObject({ severity: 'warning', loc: [], msg: 'and more problems of this kind' });
  });

  test('those of all pipelines of a namespace have a sum, and each pipeline keeps one', async () => {
    const memo = createResolveMemo();
    const resolve: Resolve = (...input) => resolveSetInTurns(...input, { rest: setImmediate });
    const tenancy = { open: true, library: [''], namespaces: {}, home: null };
    const pipelines = Array.from({ length: 300 }, (_, at) => ({
      file: `p${at}.yaml`,
      text: `name: p${at}\n${STEPS}`,
      namespace: 'shop',
    }));
    const loud = ({ name, file }: ResolvedPipeline) =>
      Array.from({ length: 20 }, (_, at) => ({ ...problem(at), name, file, msg: `${at}${'ā'.repeat(490)}` }));
    const options = { operator: { tenancy }, memo, now: () => 0, resolve, problemsHere: loud };
    const load = async () => {
      const { problems } = await resolveRead(
        options,
        { read: { pipelines, steps: [], problems: [], home: null } },
        new Map(),
      );
      expect(new Set(problems.map(({ file }) => file)).size).toBe(300);
      expect(problems.reduce((sum, { msg }) => sum + msg.length, 0)).toBeLessThan(512 * 1024);
      return problems;
    };
    expect(await load()).toEqual(await load());
  });

  test('they are looked for again where the pipeline, a step that it uses or a rule changed, and only there', async () => {
    const asked: unknown[] = [];
    const read = reader(({ config }) => {
      asked.push((config.steps[0] as { prompt_template: string }).prompt_template);
      return [problem(0)];
    });
    const found = async (...given: Parameters<typeof read>) => (await read(...given)).problems.length;
    expect([await found('prompt_template: x'), await found('prompt_template: x'), asked]).toEqual([1, 1, ['x']]);
    expect([await found('prompt_template: y'), asked]).toEqual([1, ['x', 'y']]);
    const tenancy = { open: true, library: [], namespaces: {}, home: null };
    expect([await found('prompt_template: y', { tenancy }), asked]).toEqual([1, ['x', 'y', 'y']]);
  });

  test('of what is served as it last loaded nothing is looked for, as nothing of it is shown', async () => {
    const asked: string[] = [];
    const read = reader(({ name }) => {
      asked.push(name);
      return [];
    });
    const good = 'name: s\nexecutor: human\ntimeout_seconds: 5\nprompt_template: x';
    const { byName, problems } = await read('prompt_template: 5', {}, [['s.yaml', good]]);
    expect([[...byName.keys()], problems.length > 0, asked]).toEqual([['p'], true, []]);
  });
});
