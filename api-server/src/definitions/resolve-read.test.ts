import { createResolveMemo, resolveSetInTurns } from '@signalbox/crds';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { resolveRead } from './resolve-read.ts';

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
