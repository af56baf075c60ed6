import { promptHash } from '@signalbox/crds';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { readCounters } from '../../store/db/counters.ts';
import { checkHourly } from '../../store/aggregates/hourly-check.ts';
import { knownPrompts, promptUses, withTemplates } from '../../store/aggregates/prompt-versions.ts';
import { fitFields } from '../state/field-sizes.ts';
import { CONTEXT, createWorld, hang, sure, type Script, type World, type WorldOptions } from '../fixtures/engine.ts';

let world: World;
const make = async (options: WorldOptions) => (world = await createWorld(options));
afterEach(() => world.close());

const pipeline = (steps: string, more = '') => `name: p\nstage: production\n${more}\nsteps:\n${steps}`;
const ask = (name: string, more = '') =>
  `  - {name: ${name}, executor: gateway, agent: ${name}, prompt_template: "Look at {{labels.service}}"${more}}\n`;
const failing =
  (type: string, retryable: boolean): Script =>
  () => ({ ok: false, type, message: 'broken', retryable });

test('a run goes through its steps and each leaves its evidence', async () => {
  await make({
    pipelines: [pipeline(ask('one') + ask('two', ', confidence_threshold: 0.5'))],
    agents: { one: () => sure(0.9, { ticket: 7 }), two: () => sure(0.6) },
  });
  const run = await world.run('p');
  expect(run.run).toMatchObject({
    status: 'completed',
    trust: 0.6,
    threshold: 0.5,
    inputTokens: 20,
    outputTokens: 10,
    unpricedSteps: 2,
  });
  expect(run.step('one')).toMatchObject({
    status: 'completed',
    primaryConfidence: 0.9,
    output: { ticket: 7 },
    model: 'm',
    agentVersion: 'v1',
  });
  expect(run.step('one').rawResponse?.prompt).toBe('Look at checkout');
  expect(run.events).toEqual([
    'run_started',
    'step_started',
    'step_completed',
    'step_started',
    'step_completed',
    'run_completed',
  ]);
});

test('the ends of a run and its steps are in the sums of their hour, in testing too', async () => {
  const testing = pipeline(ask('one')).replace('name: p', 'name: trial').replace('production', 'testing');
  await make({
    pipelines: [pipeline(ask('one') + ask('two')), testing],
    agents: { one: () => sure(0.9), two: failing('refused', false) },
    pricing: [{ provider: 'demo', model: 'm', inputPerMtok: 1, outputPerMtok: 1 }],
  });
  await world.run('p');
  await world.run('trial');
  const { db } = world.database;
  expect(await checkHourly(db)).toEqual([]);
  const runs = await db.selectFrom('hourly_runs').selectAll().orderBy('stage').execute();
  expect(runs.map((row) => [row.pipeline_name, row.stage, row.status, row.runs])).toEqual([
    ['p', 'production', 'failed', 1],
    ['trial', 'testing', 'completed', 1],
  ]);
  const steps = await db.selectFrom('hourly_steps').selectAll().orderBy('stage').orderBy('step_name').execute();
  expect(steps.map((row) => [row.step_name, row.stage, row.status, row.input_tokens, row.executions])).toEqual([
    ['one', 'production', 'completed', 10, 1],
    ['two', 'production', 'failed', 0, 1],
    ['one', 'testing', 'completed', 10, 1],
  ]);
});

test('a run leaves which prompts and agents its steps used, with the templates of the prompts', async () => {
  const branches =
    '  - {name: both, parallel: {join: all_must_pass, steps: [{name: two, executor: gateway, agent: two, prompt_template: hi}]}}\n';
  await make({ pipelines: [pipeline(ask('one') + branches)], agents: { one: () => sure(0.9), two: () => sure(0.9) } });
  await world.run('p');
  await world.run('p');
  await world.uses.flush();
  const { db } = world.database;
  const uses = await db.selectFrom('version_uses').selectAll().orderBy('step_name').execute();
  const versions = uses.map((use) => [use.step_name, use.prompt_hash, use.executor, use.agent, use.agent_version]);
  expect(versions).toEqual([
    ['one', promptHash('Look at {{labels.service}}'), 'gateway', 'one', 'v1'],
    ['two', promptHash('hi'), 'gateway', 'two', 'v1'],
  ]);
  const prompts = await knownPrompts(db, 'two');
  expect(prompts).toMatchObject({ stored: [{ n: 2 }] });
  expect(await withTemplates(db, promptUses(prompts!, []))).toMatchObject([{ template: 'hi' }]);
});

test.each([
  ['escalate', 'escalated', 'escalated'],
  ['abort', 'aborted', 'aborted'],
  ['proceed', 'completed', 'completed'],
])('a gate that is not passed with on_low_confidence: %s', async (rule, runStatus, stepStatus) => {
  await make({ pipelines: [pipeline(ask('one', `, on_low_confidence: ${rule}`))], agents: { one: () => sure(0.3) } });
  const run = await world.run('p');
  expect([run.run.status, run.step('one').status]).toEqual([runStatus, stepStatus]);
});

test('of a long reason to stop a step and its run keep the beginning', async () => {
  const reason = 'x'.repeat(400_000);
  await make({
    pipelines: [pipeline(ask('one'))],
    agents: { one: () => sure(0.9, { proceed: false, proceed_reason: reason }) },
  });
  const { run, step } = await world.run('p');
  const kept = [run.error?.message ?? '', step('one').error?.message ?? ''];
  expect(kept.map((text) => text.length <= 4096 && text.includes('cut from 400000 bytes'))).toEqual([true, true]);
});

test('an agent that answers proceed: false stops the run with its reason', async () => {
  await make({
    pipelines: [pipeline(ask('one') + ask('two'))],
    agents: { one: () => sure(0.9, { proceed: false, proceed_reason: 'a false alarm' }) },
  });
  const run = await world.run('p');
  expect(run.run).toMatchObject({ status: 'stopped', error: { step: 'one', message: 'a false alarm' } });
  expect(world.calls).toHaveLength(1);
});

test('a retryable error is tried again with a key of its own, another is not', async () => {
  let tries = 0;
  const flaky: Script = () =>
    ++tries < 3 ? { ok: false, type: 'timeout', message: 'late', retryable: true } : sure(0.9);
  await make({ pipelines: [pipeline(ask('one', ', retry: {attempts: 3, delay_seconds: 0}'))], agents: { one: flaky } });
  const run = await world.run('p');
  expect(run.step('one')).toMatchObject({ status: 'completed', attempts: 3 });
  expect(new Set(world.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
  await world.close();
  await make({
    pipelines: [pipeline(ask('one', ', retry: {attempts: 3, delay_seconds: 0}'))],
    agents: { one: failing('forbidden', false) },
  });
  expect((await world.run('p')).step('one')).toMatchObject({
    status: 'failed',
    attempts: 1,
    error: { type: 'forbidden' },
  });
});

test('a failed step ends the run unless on_failure says continue', async () => {
  await make({
    pipelines: [pipeline(ask('one', ', on_failure: continue') + ask('two'))],
    agents: { one: failing('x', false), two: () => sure(0.9) },
  });
  const run = await world.run('p');
  expect([run.run.status, run.step('one').status, run.step('two').status]).toEqual([
    'completed',
    'failed',
    'completed',
  ]);
});

test('a queued run says that it waits, and that it begins', async () => {
  await make({ pipelines: [pipeline(ask('one'))], agents: { one: () => sure(0.9) }, maxRuns: 1 });
  world.capacity.tryTake();
  const queued = await world.start('p', {}, 'queued');
  world.capacity.release();
  const { events, run } = await world.ended(queued);
  expect(run.status).toBe('completed');
  expect(events.slice(0, 3)).toEqual(['run_queued', 'run_started', 'step_started']);
});

test('a scheduled run that starts at once does not say that it is queued', async () => {
  await make({ pipelines: [pipeline(ask('one'))], agents: { one: () => sure(0.9) } });
  const { events } = await world.ended(await world.start('p', {}, 'queued'));
  expect(events.slice(0, 2)).toEqual(['run_started', 'step_started']);
});

test('when skips on false and on a missing value, and a type error fails the step', async () => {
  const steps =
    ask('one', ', when: \'labels.service == "other"\'') +
    ask('two', ", when: 'steps.one.output.nothing == 1'") +
    ask('three', ", when: 'severity > 3'");
  await make({ pipelines: [pipeline(steps)], agents: {} });
  const run = await world.run('p');
  expect([run.step('one').status, run.step('two').status, run.step('three').status]).toEqual([
    'skipped',
    'skipped',
    'failed',
  ]);
  expect(run.step('three').error).toEqual({
    type: 'expression_failed',
    message: 'when: a string > an integer has no meaning, in severity > 3',
  });
  expect(run.events).toContain('expression_missing_value');
  expect(world.calls).toHaveLength(0);
});

test('later steps see what earlier ones answered, under both spellings of their names', async () => {
  const two =
    '  - {name: two, executor: gateway, agent: two, prompt_template: "{{steps.list_services.output.services.[0]}} {{steps.list-services.summary}} {{region}}"}\n';
  await make({
    pipelines: [pipeline(ask('list-services') + two)],
    agents: { 'list-services': () => sure(0.9, { services: ['cart'] }), two: () => sure(0.9) },
  });
  expect((await world.run('p')).step('two').rawResponse?.prompt).toBe('cart looked eu');
});

test('an answer that does not fit its schema fails the step as output_invalid', async () => {
  const schema = ', output_schema: {type: object, properties: {ticket: {type: string}}, required: [ticket]}';
  await make({ pipelines: [pipeline(ask('one', schema))], agents: { one: () => sure(0.9, { ticket: 5 }) } });
  expect((await world.run('p')).step('one').error).toMatchObject({ type: 'output_invalid' });
});

test('cancelling reaches the agent and ends the run', async () => {
  await make({ pipelines: [pipeline(ask('one') + ask('two'))], agents: { one: hang } });
  const id = await world.start('p');
  await expect.poll(() => world.calls.length).toBe(1);
  expect(await world.engine.cancel(id, 'ann')).toBe('cancelled');
  expect(world.calls[0]?.signal.aborted).toBe(true);
  const run = await world.ended(id);
  expect(run.run).toMatchObject({ status: 'cancelled', error: { message: 'cancelled by ann' } });
  expect(await world.engine.cancel(id, 'ann')).toBe('ended');
  expect(await world.engine.cancel('01a1feaf-352c-758c-8425-0fcbc24275d5', 'ann')).toBe('not_found');
});

test('a run that is stored and not begun yet is cancelled as soon as it begins', async () => {
  await make({ pipelines: [pipeline(ask('one'))], agents: { one: hang } });
  const begin = vi.spyOn(world.engine, 'begin').mockImplementationOnce(() => undefined);
  const id = await world.start('p');
  const cancelled = world.engine.cancel(id, 'ann');
  const [run, state] = begin.mock.calls[0] ?? [];
  if (run && state) world.engine.begin(run, state);
  expect(await cancelled).toBe('cancelled');
  expect((await world.ended(id)).run.status).toBe('cancelled');
});

test('after a restart ended steps are not asked again and the one in flight is, with the same key and prompt', async () => {
  let hanging = true;
  const two: Script = (call) => (hanging ? hang(call) : sure(0.9));
  await make({
    pipelines: [pipeline(ask('one') + ask('two') + ask('three'))],
    agents: { one: () => sure(0.9), two, three: () => sure(0.9) },
  });
  const id = await world.start('p');
  await expect.poll(() => world.calls.length).toBe(2);
  await world.restart();
  hanging = false;
  expect(await world.engine.resume()).toBe(1);
  const run = await world.ended(id);
  expect(run.run.status).toBe('completed');
  expect(world.calls.map(({ agent }) => agent)).toEqual(['one', 'two', 'two', 'three']);
  expect(world.calls[2]?.idempotencyKey).toBe(world.calls[1]?.idempotencyKey);
  expect(world.calls[2]?.input).toBe(world.calls[1]?.input);
  expect(run.events).toEqual(expect.arrayContaining(['run_resumed', 'step_resumed']));
});

test('a resumed production run is counted, once a restart', async () => {
  await make({
    pipelines: [
      pipeline(ask('one')),
      pipeline(ask('one')).replace('name: p', 'name: q').replace('production', 'testing'),
    ],
    agents: { one: hang },
  });
  await world.start('p');
  await world.start('q');
  await expect.poll(() => world.calls.length).toBe(2);
  for (const asked of [4, 6]) {
    await world.restart();
    await world.engine.resume();
    await expect.poll(() => world.calls.length).toBe(asked);
  }
  const counters = await readCounters(world.database.db);
  expect(counters.filter(({ metric }) => metric === 'runs_resumed_total')).toEqual([
    { metric: 'runs_resumed_total', labels: ['p'], value: 2 },
  ]);
});

test('durable.on_interrupted: escalate does not ask again', async () => {
  await make({ pipelines: [pipeline(ask('one'), 'durable: {on_interrupted: escalate}')], agents: { one: hang } });
  const id = await world.start('p');
  await expect.poll(() => world.calls.length).toBe(1);
  await world.restart();
  await world.engine.resume();
  expect((await world.ended(id)).run).toMatchObject({ status: 'escalated' });
  expect(world.calls).toHaveLength(1);
});

test('a run that is over its token budget escalates before the next step', async () => {
  await make({
    pipelines: [pipeline(ask('one') + ask('two'), 'budget: {max_tokens: 15}')],
    agents: { one: () => sure(0.9), two: () => sure(0.9) },
  });
  const run = await world.run('p');
  expect(run.run).toMatchObject({ status: 'escalated', error: { step: 'two' } });
  expect(world.calls).toHaveLength(1);
});

test('loop_until asks again with the earlier answer until it is sure enough', async () => {
  let round = 0;
  await make({
    pipelines: [pipeline(ask('one', ', loop_until: {confidence: 0.8, max_iterations: 3}'))],
    agents: { one: () => sure([0.3, 0.85, 0.9][round++] ?? 0) },
  });
  const run = await world.run('p');
  expect(run.step('one')).toMatchObject({ status: 'completed', primaryConfidence: 0.85 });
  expect(world.calls).toHaveLength(2);
  expect(world.calls[1]?.input).toContain('Your answer so far was');
  expect(run.step('one').rawResponse?.iterationsBefore).toMatchObject([{ confidence: 0.3 }]);
});

test('a step that takes too long fails as timeout', async () => {
  await make({ pipelines: [pipeline(ask('one', ', timeout_seconds: 1'))], agents: { one: hang } });
  expect((await world.run('p')).step('one').error).toMatchObject({ type: 'timeout' });
});

test('a step whose time is over while its backend cannot be reached says so', async () => {
  const message = 'ws://gateway:18780/rpc cannot be reached: connect ECONNREFUSED';
  const unreachable: Script = ({ signal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve({ ok: false, type: 'unavailable', message, retryable: true }));
    });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await make({ pipelines: [pipeline(ask('one', ', timeout_seconds: 600'))], agents: { one: unreachable } });
  const id = await world.start('p');
  await expect.poll(() => world.calls.length).toBe(1);
  vi.advanceTimersByTime(600_000);
  expect((await world.ended(id)).step('one').error).toEqual({
    type: 'timeout',
    message: `no answer within 600 s, the timeout_seconds of the step: ${message}`,
  });
});

test('answers that came in time count, however long they wait for their turn beside other branches', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const step = '{executor: gateway, agent: one, prompt_template: hi, timeout_seconds: 1}';
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const one: Script = async () => {
    if (world.calls.length === 12) {
      resolve();
      setImmediate(() => vi.advanceTimersByTime(1_000));
    }
    await all;
    return sure(0.9);
  };
  const each = `{name: each, fan_out: {over: metadata.items, max_parallel: 12, step: ${step}}}`;
  await make({ pipelines: [`name: p\nsteps: [${each}]\n`], agents: { one } });
  const { steps } = await world.run('p', { metadata: { items: Array.from({ length: 12 }, (_, at) => at) } });
  expect(steps.map(({ error }) => error)).toEqual(steps.map(() => null));
});

test('the whole run has a time of its own', async () => {
  await make({ pipelines: [pipeline(ask('one'), 'timeout_seconds: 1')], agents: { one: hang } });
  expect((await world.run('p')).run).toMatchObject({
    status: 'failed',
    error: { message: 'the run took longer than 1 s' },
  });
});

test('a folder that takes no artifacts costs the artifacts and not the run', async () => {
  await make({
    pipelines: [pipeline(ask('one'))],
    agents: { one: () => sure(0.9, { artifacts: { 'report.md': 'text' } }) },
    artifactsDir: '/dev/null/artifacts',
  });
  const run = await world.run('p');
  expect(run.run.status).toBe('completed');
  expect(run.events).toContain('artifact_left_out');
});

test('a run whose alert was too long says what was cut', async () => {
  await make({ pipelines: [pipeline(ask('one'))], agents: { one: () => sure(0.9) } });
  const { summary } = fitFields({ ...CONTEXT, summary: 'x'.repeat(9000) });
  const { events } = await world.run('p', { summary });
  expect(events).toContain('fields_cut');
});
