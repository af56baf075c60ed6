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

const failed = steps.join('').replaceAll('x}', 'x, on_failure: continue}');
const ASK = 'name: ask, executor: human, prompt_template: Restart?';
const ACT = '  - {name: act, executor: gateway, agent: act, prompt_template: x}\n';
const BELOW = `name: below\nsteps:\n  - {name: look, executor: gateway, agent: look, prompt_template: x, on_low_confidence: escalate}\n`;

test.each([
  ['a question that nobody answered', `{${ASK}, timeout_seconds: 1, on_timeout: escalate, on_failure: continue}`],
  ['a sub-run that escalated', '{name: sub, executor: pipeline, pipeline: below, on_failure: continue}'],
])('%s escalates a run whose answers have no room left', async (_, step) => {
  const agents = { one: answer, two: answer, three: answer, look: () => sure(0.1), act: () => sure(0.9) };
  world = await createWorld({ pipelines: [`name: p\nsteps:\n${failed}  - ${step}\n${ACT}`, BELOW], agents });
  const { run, step: of } = await world.run('p');
  expect(of('three')).toMatchObject({ status: 'failed', error: { type: 'output_invalid' } });
  expect(run.status).toBe('escalated');
  expect(world.calls.map(({ agent }) => agent)).not.toContain('act');
});

test('what a person decides is taken by a run whose answers have no room left', async () => {
  world = await createWorld({
    pipelines: [`name: p\nsteps:\n${failed}  - {${ASK}, timeout_seconds: 90}\n${ACT}`],
    agents: { one: answer, two: answer, three: answer, act: () => sure(0.9) },
  });
  const id = await world.start('p');
  const pending = async () => (await world.approvals.list({ status: 'pending' }, { limit: 9, offset: 0 })).approvals;
  await expect.poll(async () => (await pending()).length).toBe(1);
  const verdict = { decision: 'approve' as const, fields: {}, comment: null };
  const by = { name: 'ann', kind: 'token' as const, role: 'operator', requestId: null };
  await world.approvals.decide((await pending())[0]?.id ?? '', { verdict, by });
  expect((await world.ended(id)).step('ask').status).toBe('completed');
  expect(world.calls.map(({ agent }) => agent)).toContain('act');
});
