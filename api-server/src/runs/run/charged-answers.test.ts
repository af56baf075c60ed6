import { afterEach, expect, test } from 'vitest';
import { beginRerun } from '../fixtures/begin-rerun.ts';
import { CONTEXT, createWorld, type Ended, hang, type World, sure } from '../fixtures/engine.ts';

let world: World;
afterEach(() => world.close());

const NAMES = ['one', 'two', 'three'];
const steps = NAMES.map((name) => `  - {name: ${name}, executor: gateway, agent: ${name}, prompt_template: x}\n`);
/** Of 500 KB of JSON, which counts as 7.5 MB. */
const NAMED = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`name${at}`, 1]));
const answer = () => sure(0.9, NAMED);

test('what was answered before a rerun, and before a restart of it, counts as it did for the run that asked', async () => {
  let isStuck = false;
  const asked = { one: answer, two: answer, three: answer };
  world = await createWorld({
    pipelines: [`name: p\nsteps:\n${steps.join('')}`],
    agents: { ...asked, three: (call) => (isStuck ? hang(call) : answer()) },
  });
  const original = await world.run('p');
  const endOf = (run: Ended) => run.step('three').error?.message;
  const tooMuch = expect.stringContaining('take more than 16 MiB together') as string;
  expect(NAMES.map((name) => original.step(name).status)).toEqual(['completed', 'completed', 'failed']);
  expect(endOf(original)).toEqual(tooMuch);
  const again = () =>
    beginRerun(world, {
      pipeline: world.pipelines.get('p')!,
      context: CONTEXT,
      team: null,
      rerunOf: original.run.id,
      prior: original.steps.filter(({ stepName }) => stepName !== 'three'),
    });
  const rerun = await world.ended(await again());
  expect(endOf(rerun)).toEqual(tooMuch);
  isStuck = true;
  const id = await again();
  await expect.poll(() => world.calls.length).toBe(5);
  isStuck = false;
  await world.restart();
  await world.engine.resume();
  expect(endOf(await world.ended(id))).toEqual(tooMuch);
});
