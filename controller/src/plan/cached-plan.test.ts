import { type Ahead, computeLimit } from '@signalbox/crds';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CustomObject } from '../objects/custom-object.ts';
import { objectOf, STEP } from '../testing/objects.ts';
import { type CachedPlan, createCachedPlan } from './cached-plan.ts';
import { planFiles } from './file-plan.ts';
import { createResting } from './resting.ts';

/** Over the size that is checked in place. */
const schema = (key: string) => ({
  properties: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`${key}${at}`, { type: 'string' }])),
});
const agentOf = (name: string) =>
  objectOf({ kind: 'Agent', name, spec: { model: 'demo/any', soul: 'Be brief.\n', output_schema: schema(name) } });

function resting(done: ReturnType<typeof computeLimit> | undefined) {
  const seen = { rests: 0, asked: [] as string[] };
  const rest = async () => void seen.rests++;
  const work = async ({ name }: Ahead) => {
    seen.asked.push(name);
    return done;
  };
  return { seen, rest, work };
}

test('other work comes between two objects, and a large one is checked elsewhere', async () => {
  const { seen, ...own } = resting(computeLimit('it is not liked there'));
  const plan = createCachedPlan(undefined, own);
  const objects = ['a', 'b', 'c'].map(agentOf);
  const verdicts = await plan(objects);
  expect(seen.asked).toEqual(['a', 'b', 'c']);
  expect(seen.rests).toBeGreaterThanOrEqual(3);
  expect(verdicts.map(({ accepted, reason, message }) => [accepted, reason, message.includes('not liked')])).toEqual(
    objects.map(() => [false, 'TooLarge', true]),
  );
});

test('only what changed is checked again, and a new status is no change', async () => {
  const { seen, ...own } = resting(undefined);
  const plan = createCachedPlan(undefined, own);
  const before = ['a', 'b', 'c'].map(agentOf);
  await plan(before);
  const changed = before.map((object) =>
    objectOf({ ...object, resourceVersion: '2', generation: object.name === 'b' ? 2 : 1, status: { stage: 'any' } }),
  );
  expect((await plan(changed)).every(({ accepted }) => accepted)).toBe(true);
  expect(seen.asked).toEqual(['a', 'b', 'c', 'b']);
});

test('a change of one object leaves the verdicts of all others as they are', async () => {
  const plan = createCachedPlan(undefined, resting(undefined));
  const objects = ['a', 'b', 'c'].map((name) => objectOf({ name }));
  const before = await plan(objects);
  const after = await plan([...objects.slice(0, 2), objectOf({ name: 'c', generation: 2 })]);
  expect(after.map((verdict) => before.includes(verdict))).toEqual([true, true, false]);
});

const pipeline =
  (name: string, step: object, rest: object = {}) =>
  () =>
    objectOf({ name, spec: { steps: [{ name: 'first', ...step }] }, ...rest });
const step = (rest: object) => () => objectOf({ kind: 'LibraryStep', name: 'look', ...rest });
const gated = { annotations: { 'signalbox.dev/readiness-gate': 'enforce' } };
const accepted = { lastAccepted: { name: 'uses', steps: [{ name: 'old', ...STEP }] } };
const MADE = [
  pipeline('uses', { use: 'look' }),
  pipeline('uses', { use: 'look' }, { status: accepted }),
  pipeline('uses', { use: 'look' }, { namespace: 'older', createdAt: '2020-01-01T00:00:00Z' }),
  pipeline('calls', { executor: 'pipeline', pipeline: 'uses' }),
  pipeline('warned', { ...STEP, deterministic_checks: [{ type: 'shell', name: 'a', run: 'b' }] }),
  () => objectOf({ name: 'held', spec: { stage: 'production', steps: [{ name: 'a', ...STEP }] }, ...gated }),
  step({}),
  step({ generation: 2, spec: { ...STEP, agent: 'another' } }),
  step({ generation: 3, spec: { executor: 'nothing' } }),
  step({ generation: 3, spec: { executor: 'nothing' }, status: { lastAccepted: { name: 'look', ...STEP } } }),
  () => agentOf('helper'),
];

test('what is remembered never changes a verdict or a file, whatever was planned before', async () => {
  const known = MADE.map((make) => make());
  const resolved = async (plan: CachedPlan, objects: CustomObject[]) => {
    const verdicts = await plan(objects);
    const { files, manifest } = planFiles({
      verdicts,
      home: 'ops',
      tenancy: undefined,
      owners: {},
      digestAt: () => null,
      textAt: () => '',
      isGone: () => true,
    });
    const said = verdicts.map(({ object, ...rest }) => JSON.stringify([object.uid, object.generation, rest]));
    return {
      said: said.toSorted(),
      files: [...files].map(([path, { digest, text }]) => [path, digest, text()]).toSorted(),
      manifest,
    };
  };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.subarray(MADE.map((_, at) => at)), { minLength: 2, maxLength: 6 }), async (worlds) => {
      const plan = createCachedPlan(undefined, resting(undefined));
      for (const world of worlds) {
        // One object of a uid, as in a cluster.
        const ats = [...new Map(world.map((at) => [known[at]?.uid, at])).values()];
        const again = await resolved(
          plan,
          ats.flatMap((at) => known[at] ?? []),
        );
        const fresh = await resolved(
          createCachedPlan(undefined, resting(undefined)),
          ats.flatMap((at) => MADE[at]?.() ?? []),
        );
        expect(again).toEqual(fresh);
      }
    }),
    { numRuns: 100 },
  );
});

test('a plan that failed is made again', async () => {
  const { rest, work } = resting(undefined);
  let fails = true;
  const plan = createCachedPlan(undefined, {
    rest: () => (fails ? Promise.reject(new Error('stopped')) : rest()),
    work,
  });
  await expect(plan([agentOf('a')])).rejects.toThrow('stopped');
  fails = false;
  expect(await plan([agentOf('a')])).toMatchObject([{ accepted: true }]);
});

test('between any two objects that take long, what waits for the event loop comes in', async () => {
  const objects = Array.from({ length: 12 }, (_, at) => agentOf(`agent${at}`));
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  await createCachedPlan(undefined, { rest: createResting(new AbortController().signal).rest })(objects);
  clearInterval(counting);
  // Eleven gaps; the event loop may go from the first one to the second object before it looks at its timers.
  expect(turns).toBeGreaterThanOrEqual(objects.length - 2);
});

test('a plan ends with the role', async () => {
  const stopping = new AbortController();
  const planned = createCachedPlan(
    undefined,
    createResting(stopping.signal),
  )([agentOf('a'), agentOf('b'), agentOf('c')]);
  stopping.abort();
  await expect(planned).rejects.toThrow('aborted');
});
