import { expect, test } from 'vitest';
import { createResolveMemo } from './resolve-memo.ts';
import { resolveSet, resolveSetInTurns } from './resolve-set.ts';

const LARGE = {
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`key${at}`, { type: 'string' }])),
};
const BAD = { ...LARGE, type: 'nonsense' };
const pipeline = (name: string, ...schemas: object[]) => ({
  file: `${name}.yaml`,
  text: JSON.stringify({
    name,
    steps: schemas.map((output_schema, at) => ({
      name: `step${at}`,
      executor: 'gateway',
      agent: 'a',
      prompt_template: 'look',
      output_schema,
    })),
  }),
});
const INPUT = {
  pipelines: [pipeline('a', LARGE, BAD), pipeline('b', LARGE), pipeline('c', { type: 'object' })],
  steps: [],
};

const resting = (answer: { ok: true } | null) => {
  const world = { rests: 0, judged: [] as string[] };
  const judge = (_: object, name: string) => {
    world.judged.push(name);
    return Promise.resolve(answer);
  };
  const rest = () => {
    world.rests += 1;
    return Promise.resolve();
  };
  return { world, rest, judge };
};

test('in turns, a set resolves to the same as at once', async () => {
  const { world, ...own } = resting(null);
  const memo = createResolveMemo();
  expect(await resolveSetInTurns(INPUT, memo, own)).toEqual(resolveSet(INPUT));
  // Each file is read in a turn and checked in a turn; each of three large schemas has one more.
  expect(world).toEqual({ rests: 9, judged: ['a', 'a', 'b'] });
  expect(await resolveSetInTurns(INPUT, memo, own)).toEqual(resolveSet(INPUT));
  expect(world.rests).toBe(9);
});

test('a schema that was judged elsewhere is not compiled again', async () => {
  const { rest, judge } = resting({ ok: true });
  const { pipelines, problems } = await resolveSetInTurns(INPUT, createResolveMemo(), { rest, judge });
  expect([pipelines.map(({ name }) => name), problems]).toEqual([['a', 'b', 'c'], []]);
});
