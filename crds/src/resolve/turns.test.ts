import { expect, test } from 'vitest';
import { computeLimit, passingLimit } from '../language/compute-limit.ts';
import { createResolveMemo } from './resolve-memo.ts';
import { resolveSet, resolveSetInTurns } from './resolve-set.ts';
import type { Ahead } from './turns.ts';
import { type Done, doWork } from './work.ts';

const LARGE = {
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`key${at}`, { type: 'string' }])),
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
const using = { file: 'u.yaml', text: 'name: u\nsteps:\n- {name: a, use: shared}\n- {name: b, use: gone}\n' };
const shared = {
  file: 'steps/s.yaml',
  text: JSON.stringify({ name: 'shared', executor: 'webhook', url: 'http://x', payload: { a: 'x'.repeat(9000) } }),
};
const INPUT = {
  pipelines: [pipeline('a', LARGE, BAD), pipeline('b', LARGE), pipeline('c', { type: 'object' }), using],
  steps: [shared],
  agents: [{ file: 'agent.yaml', text: JSON.stringify({ name: 'x', model: 'a/b', output_schema: BAD }), soul: 'Hi' }],
};

/** Does the work as a thread would. */
const elsewhere = ({ work }: Ahead): Promise<Done> =>
  Promise.resolve({ ok: true, worked: structuredClone(doWork(structuredClone(work))) });

function resting(work: (ahead: Ahead) => Promise<Done | undefined>) {
  const world = { rests: 0, asked: [] as string[] };
  const rest = async () => void (world.rests += 1);
  const noting = (ahead: Ahead) => {
    world.asked.push(`${ahead.work.check ? 'check' : 'read'} ${ahead.name}`);
    return work(ahead);
  };
  return { world, rest, work: noting };
}

test.each([
  ['elsewhere', elsewhere],
  ['in place', () => Promise.resolve(undefined)],
])('in turns, a set resolves to the same as at once, also where what is large is done %s', async (_, work) => {
  const { world, ...own } = resting(work);
  const memo = createResolveMemo();
  expect(await resolveSetInTurns(INPUT, memo, own)).toEqual(resolveSet(INPUT));
  expect(world.asked).toEqual([
    'read steps/s.yaml',
    'check shared',
    'read agent.yaml',
    'check x',
    'read a.yaml',
    'read b.yaml',
    'check a',
    'check b',
    // Small, but its library step is not.
    'check u',
  ]);
  // Each of six files is read in a turn and checked in a turn, and of the two pipelines that load the agents are looked for in one.
  expect(world.rests).toBe(14);
  expect(await resolveSetInTurns(INPUT, memo, own)).toEqual(resolveSet(INPUT));
  expect(world.rests).toBe(16);
});

const stopping = (step: 'read' | 'check', limit: Done) => async (ahead: Ahead) =>
  (ahead.work.check ? 'check' : 'read') === step && ahead.name.startsWith('b') ? limit : elsewhere(ahead);

test.each(['read', 'check'] as const)(
  'a definition that takes too much to %s is refused and not tried again',
  async (step) => {
    const { world, ...own } = resting(stopping(step, computeLimit('it takes an hour')));
    const memo = createResolveMemo();
    const { pipelines, problems } = await resolveSetInTurns(INPUT, memo, own);
    expect(pipelines.map(({ name }) => name)).toEqual(['c']);
    expect(problems).toContainEqual(
      expect.objectContaining({
        file: 'b.yaml',
        reason: 'too_large',
        msg: 'takes too much to check: it takes an hour',
      }),
    );
    const asked = world.asked.length;
    await resolveSetInTurns(INPUT, memo, own);
    expect(world.asked).toHaveLength(asked);
  },
);

test.each(['read', 'check'] as const)('one that could not be %s now is tried again', async (step) => {
  const memo = createResolveMemo();
  const { rest, work } = resting(stopping(step, passingLimit('the service stops')));
  const { problems } = await resolveSetInTurns(INPUT, memo, { rest, work });
  const msg = 'was not checked: the service stops; reload to try again';
  expect(problems).toContainEqual(expect.objectContaining({ file: 'b.yaml', msg }));
  const { pipelines } = await resolveSetInTurns(INPUT, memo, { rest, work: elsewhere });
  expect(pipelines.map(({ name }) => name)).toEqual(['b', 'c']);
});
