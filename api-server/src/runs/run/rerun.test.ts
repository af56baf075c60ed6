import { compileMatch, type Tenant } from '@signalbox/crds';
import { afterEach, expect, test } from 'vitest';
import type { Snapshot } from '../../definitions/snapshot.ts';
import { attentionOf } from '../../store/tables/attention.ts';
import { askedBelow } from '../../store/tables/sub-runs/asked-below.ts';
import { beginRerun } from '../fixtures/begin-rerun.ts';
import { CONTEXT, createWorld, hang, sure, type Ended, type World } from '../fixtures/engine.ts';
import type { Stage } from '../state/model.ts';
import { type Original, planRerun, type Rerun } from './rerun.ts';

let world: World;
afterEach(() => world.close());

const STEPS = ['one', 'two', 'three']
  .map((name) => `  - {name: ${name}, executor: gateway, agent: ${name}, prompt_template: "{{steps.one.output.n}}"}\n`)
  .join('');
const TEXT = `name: p\nstage: production\nsteps:\n${STEPS}`;

const plan = (run: Ended, fromStep: string | null, more: Partial<Original> = {}): Rerun =>
  planRerun(
    { byName: world.pipelines } as unknown as Snapshot,
    {
      id: run.run.id,
      status: run.run.status,
      pipelineName: run.run.pipelineName,
      stage: run.run.stage,
      context: { ...CONTEXT, fingerprint: 'the-key' },
      namespace: null,
      steps: run.steps,
      below: new Map(),
      ...more,
    },
    fromStep,
  );

async function begin(planned: Rerun, stage: Stage = 'production'): Promise<string> {
  if (planned.kind !== 'ready') throw new Error(planned.kind);
  return beginRerun(world, planned.request, stage);
}

test('a rerun from a step takes over the results before it and asks only from there', async () => {
  world = await createWorld({
    pipelines: [TEXT],
    agents: { one: () => sure(0.9, { n: 7 }), two: () => sure(0.2), three: () => sure(0.9) },
  });
  const original = await world.run('p');
  expect(original.run.status).toBe('escalated');
  world.calls.length = 0;
  const again = await world.ended(await begin(plan(original, 'two')));
  expect(again.run).toMatchObject({ rerunOf: original.run.id, team: null, fingerprint: null });
  expect(world.calls.map(({ agent, input }) => [agent, input])).toEqual([['two', '7']]);
  expect(again.step('one')).toMatchObject({
    status: 'skipped',
    output: { n: 7 },
    rawResponse: { loaded: { stepId: original.step('one').id, status: 'completed' } },
  });
});

test('a rerun looks once at each pipeline below, however many ways lead to it', async () => {
  const call = (pipeline: string, at: string) => `{name: c${at}, executor: pipeline, pipeline: ${pipeline}}`;
  const group = (pipeline: string, at: number) =>
    `  - {name: g${at}, parallel: {steps: [${Array.from({ length: 16 }, (_, n) => call(pipeline, `${at}-${n}`)).join()}]}}\n`;
  const calls = (pipeline: string) => Array.from({ length: 16 }, (_, at) => group(pipeline, at)).join('');
  const levels = [1, 2, 3, 4].map((level) => `name: p${level}\nsteps:\n${calls(`p${level + 1}`)}`);
  const top = `name: p\nstage: production\nsteps:\n  - {name: below, executor: pipeline, pipeline: p1, when: "false"}\n${STEPS}`;
  const agents = { one: () => sure(0.9), two: () => sure(0.9), three: () => sure(0.9) };
  world = await createWorld({ pipelines: [top, ...levels, TEXT.replace('name: p\n', 'name: p5\n')], agents });
  expect(plan(await world.run('p'), 'one').kind).toBe('ready');
});

test('a rerun looks a few times at each execution, however many groups there are', async () => {
  const group = (at: number) =>
    `  - {name: g${at}, fan_out: {over: "[]", step: {executor: webhook, url: "https://a"}}}\n`;
  const text = TEXT.replace('steps:\n', `steps:\n${Array.from({ length: 60 }, (_, at) => group(at)).join('')}`);
  world = await createWorld({ pipelines: [text], agents: { one: () => sure(0.9), two: () => sure(0.9) } });
  const run = await world.run('p');
  let looked = 0;
  const item = (at: number) => ({
    ...run.step('one'),
    executor: 'webhook' as const,
    get stepName() {
      looked += 1;
      return `g${at % 60}/${at}`;
    },
  });
  const steps = [...run.steps, ...Array.from({ length: 600 }, (_, at) => item(at))];
  const planned = plan(run, 'two', { steps });
  expect(planned).toMatchObject({ kind: 'ready', priorSteps: 661 });
  expect(looked).toBeLessThan(7 * 600);
});

test('a rerun that is interrupted goes on with the results it took over', async () => {
  let stuck = false;
  world = await createWorld({
    pipelines: [TEXT],
    agents: { one: () => sure(0.9, { n: 7 }), two: (call) => (stuck ? hang(call) : sure(0.9)), three: () => sure(0.9) },
  });
  const original = await world.run('p');
  stuck = true;
  const id = await begin(plan(original, 'two'));
  await expect.poll(() => world.calls.length).toBe(4);
  await world.restart();
  stuck = false;
  await world.engine.resume();
  expect((await world.ended(id)).run.status).toBe('completed');
  expect(world.calls.map(({ agent }) => agent)).toEqual(['one', 'two', 'three', 'two', 'two', 'three']);
});

test('what was taken over is not paid for again, also after a restart', async () => {
  let stuck = false;
  const models = [{ provider: 'p', model: 'm', inputPerMtok: 50_000, outputPerMtok: 100_000 }];
  world = await createWorld({
    pipelines: [TEXT.replace('agent: one,', 'agent: one, verifier: {agent: reviewer},')],
    agents: {
      one: () => sure(0.9, { n: 7 }),
      two: (call) => (stuck ? hang(call) : sure(0.9)),
      three: () => sure(0.9),
      reviewer: () => sure(0.9),
    },
    pricing: models,
  });
  const original = await world.run('p');
  expect(original.run).toMatchObject({ cost: 4, inputTokens: 40 });
  stuck = true;
  const id = await begin(plan(original, 'two'));
  await expect.poll(() => world.calls.length).toBe(5);
  await world.restart();
  stuck = false;
  await world.engine.resume();
  expect((await world.ended(id)).run).toMatchObject({ cost: 2, inputTokens: 20, unpricedSteps: 0 });
});

test('a rerun from the start takes nothing over', async () => {
  world = await createWorld({
    pipelines: [TEXT],
    agents: { one: () => sure(0.9), two: () => sure(0.9), three: () => sure(0.9) },
  });
  expect(plan(await world.run('p'), null)).toMatchObject({ kind: 'ready', priorSteps: 0 });
});

test('a rerun without the results before it is refused with a reason', async () => {
  world = await createWorld({ pipelines: [TEXT], agents: { one: () => sure(0.2) } });
  const original = await world.run('p');
  expect(plan(original, 'three')).toMatchObject({
    kind: 'invalid',
    message: expect.stringContaining('no result of step "two"'),
  });
  expect(plan({ ...original, run: { ...original.run, status: 'running' } }, null)).toEqual({ kind: 'running' });
});

const HUMAN = '  - {name: approve, executor: human, timeout_seconds: 1, prompt_template: "Restart?"}\n';
const ACT = '  - {name: act, executor: gateway, agent: one, prompt_template: x}\n';
const NOT_APPROVED = {
  kind: 'invalid',
  message: expect.stringMatching(/^step "(approve|both|sub)" .*not approved.*rerun from it/),
};

test.each([
  ['a person', HUMAN],
  ['a person of a group', `  - {name: both, parallel: {steps: [${HUMAN.slice(4).trim()}]}}\n`],
  ['a person of a sub-run', '  - {name: sub, executor: pipeline, pipeline: below}\n'],
])('no rerun goes on behind an approval that %s did not give, nor does the rerun of a rerun', async (_, asks) => {
  world = await createWorld({
    pipelines: [
      `name: p\nstage: production\nsteps:\n${asks}${ACT}`,
      `name: below\nstage: production\nsteps:\n${HUMAN}`,
    ],
    agents: { one: () => sure(0.9) },
  });
  const original = await world.run('p');
  expect(original.run.status).toBe('failed');
  expect(plan(original, 'act')).toEqual(NOT_APPROVED);
  const taken = original.steps.map((step) => ({
    ...step,
    status: 'skipped' as const,
    rawResponse: { ...step.rawResponse, loaded: { stepId: step.id, status: step.status } },
  }));
  expect(plan({ ...original, steps: taken }, 'act')).toEqual(NOT_APPROVED);
  expect(plan(original, original.steps[0]?.stepName ?? '')).toMatchObject({ kind: 'ready' });
});

const APPROVE = HUMAN.slice(4).trim();
test.each([
  [
    'a step',
    ACT.replace('act', 'approve'),
    HUMAN,
    'step "approve" was of kind gateway and is of kind human now; rerun from step "approve"',
  ],
  [
    'a branch',
    `  - {name: both, parallel: {steps: [${ACT.slice(4).trim().replace('act', 'approve')}]}}\n`,
    `  - {name: both, parallel: {steps: [${APPROVE}]}}\n`,
    'step "approve" was of kind gateway and is of kind human now; rerun from step "both"',
  ],
  [
    'a new branch',
    `  - {name: both, parallel: {steps: [${ACT.slice(4).trim().replace('act', 'other')}]}}\n`,
    `  - {name: both, parallel: {steps: [${ACT.slice(4).trim().replace('act', 'other')}, ${APPROVE}]}}\n`,
    'the original run has no result of step "approve"; rerun from step "both"',
  ],
])('a result of %s that asked nobody is no approval of the one that asks people now', async (_, before, after, why) => {
  const text = (first: string) => `name: p\nstage: production\nsteps:\n${first}${ACT}`;
  world = await createWorld({ pipelines: [text(before)], agents: { one: () => sure(0.9) } });
  const original = await world.run('p');
  expect(original.run.status).toBe('completed');
  expect(plan(original, 'act')).toMatchObject({ kind: 'ready' });
  const changed = await createWorld({ pipelines: [text(after)], agents: {} });
  world.pipelines.set('p', changed.pipelines.get('p') as never);
  await changed.close();
  expect(plan(original, 'act')).toMatchObject({ kind: 'invalid', message: expect.stringContaining(why) });
});

test.each([
  ['a step', (asks: string) => `  - ${asks}\n`],
  [
    'a branch',
    (asks: string) =>
      `  - {name: both, parallel: {steps: [${ACT.slice(4).trim().replace('act', 'other')}, ${asks}]}}\n`,
  ],
  [
    'an item',
    (asks: string) => `  - {name: each, fan_out: {over: "[1, 2]", step: ${asks.replace('name: approve, ', '')}}}\n`,
  ],
])('a question that a condition of %s left out is no approval once the condition is gone', async (_, around) => {
  const text = (asks: string) => `name: p\nstage: production\nsteps:\n${around(asks)}${ACT}`;
  const conditional = APPROVE.replace('timeout_seconds', 'when: "false", timeout_seconds');
  world = await createWorld({ pipelines: [text(conditional)], agents: { one: () => sure(0.9) } });
  const original = await world.run('p');
  expect(original.steps.map(({ status }) => status)).toContain('skipped');
  expect(plan(original, 'act')).toMatchObject({ kind: 'ready' });
  const changed = await createWorld({ pipelines: [text(APPROVE)], agents: {} });
  world.pipelines.set('p', changed.pipelines.get('p') as never);
  await changed.close();
  expect(plan(original, 'act')).toMatchObject({
    kind: 'invalid',
    message: expect.stringContaining('was not approved'),
  });
});

const subRunsOf = ({ steps }: Ended) => steps.flatMap(({ rawResponse }) => rawResponse?.childRunId ?? []);

const CALL = '  - {name: sub, executor: pipeline, pipeline: below}\n';
test.each([
  ['a step', (asks: string) => asks],
  ['a branch', (asks: string) => `  - {name: both, parallel: {steps: [${asks.slice(4).trim()}]}}\n`],
  [
    'an item',
    (asks: string) =>
      `  - {name: each, fan_out: {over: "[1]", step: ${asks
        .slice(4)
        .trim()
        .replace(/name: \w+, /, '')}}}\n`,
  ],
])('a sub-run of %s that completed before its pipeline asked people is no approval', async (_, around) => {
  const pipelines = (first: string) => [
    `name: p\nstage: production\nsteps:\n${around(CALL)}${ACT}`,
    `name: below\nstage: production\nsteps:\n${first}  - {name: deeper, executor: pipeline, pipeline: deeper}\n`,
    `name: deeper\nstage: production\nsteps:\n${ACT}`,
  ];
  world = await createWorld({ pipelines: pipelines(ACT), agents: { one: () => sure(0.9) } });
  const original = await world.run('p');
  const below = await askedBelow(world.database.db, subRunsOf(original));
  expect(plan(original, 'act', { below })).toMatchObject({ kind: 'ready' });
  const asking = await createWorld({ pipelines: pipelines(HUMAN), agents: { one: () => sure(0.9) } });
  world.pipelines.set('below', asking.pipelines.get('below') as never);
  expect(plan(original, 'act', { below })).toMatchObject({ message: expect.stringContaining('was not approved') });
  const id = await asking.start('p');
  const question = async () =>
    (await asking.approvals.list({ status: 'pending' }, { limit: 1, offset: 0 })).approvals[0];
  await expect.poll(question).toBeDefined();
  const verdict = { decision: 'approve' as const, fields: {}, comment: null };
  const by = { name: 'ada', kind: 'token' as const, role: null, requestId: null };
  await asking.approvals.decide((await question())!.id, { verdict, by });
  const approved = await asking.ended(id);
  expect(approved.run.status).toBe('completed');
  const given = { below: await askedBelow(asking.database.db, subRunsOf(approved)) };
  expect(plan(approved, 'act', given)).toMatchObject({ kind: 'ready' });
  world.pipelines.set('deeper', { ...world.pipelines.get('below')!, name: 'deeper' });
  expect(plan(approved, 'act', given)).toMatchObject({ message: expect.stringContaining('was not approved') });
  await asking.close();
});

const AGENT = ACT.slice(4).trim();
const ASKING = CALL.slice(4).trim().replace('pipeline: below', 'pipeline: asking');
const itemOf = (step: string) => step.replace(/name: \w+, /, '');
const inGroup = (...steps: string[]) => `  - {name: both, parallel: {steps: [${steps.join()}]}}\n`;
const forEach = (step: string) => `  - {name: each, fan_out: {over: "[1]", step: ${itemOf(step)}}}\n`;
const named = (name: string, steps: string) => `name: ${name}\nstage: production\nsteps:\n${steps}`;
const OTHER = AGENT.replace('act', 'other');
const PASSED = HUMAN.replace('timeout_seconds: 1', 'timeout_seconds: 1, on_timeout: proceed');
const STOPS = '  - {name: stop, executor: gateway, agent: stops, prompt_template: x}\n';

test('a group that let its run go on is no approval of a branch that asks people and did not end so', async () => {
  const other = ACT.slice(4).trim().replace('act', 'other');
  const group = (asks: string) => `  - {name: both, when: "true", parallel: {steps: [${asks}, ${other}]}}\n`;
  world = await createWorld({
    pipelines: [named('p', group(PASSED.slice(4).trim()) + ACT)],
    agents: { one: () => sure(0.9) },
  });
  const original = await world.run('p');
  expect(plan(original, 'act')).toMatchObject({ kind: 'ready' });
  for (const status of ['running', 'cancelled', 'aborted', 'escalated', 'stopped'] as const) {
    const steps = original.steps.map((step) => (step.stepName === 'approve' ? { ...step, status } : step));
    expect(plan({ ...original, steps }, 'act')).toEqual(NOT_APPROVED);
    const leftOut = steps.map((step) => (step.stepName === 'both' ? { ...step, status: 'skipped' as const } : step));
    expect(plan({ ...original, steps: leftOut }, 'act')).toEqual(NOT_APPROVED);
  }
});

test.each([
  ['an item below', { below: forEach(AGENT) }, { below: forEach(APPROVE) }],
  ['an item below that starts a pipeline', { below: forEach(AGENT) }, { below: forEach(ASKING) }],
  ['a branch below', { below: inGroup(AGENT.replace('act', 'sub'), OTHER) }, { below: inGroup(ASKING, OTHER) }],
  ['a new branch below', { below: inGroup(OTHER) }, { below: inGroup(OTHER, APPROVE) }],
  ['a new branch that starts a pipeline', { p: inGroup(OTHER) + ACT }, { p: inGroup(OTHER, ASKING) + ACT }],
  ['a new step before the one that stopped', { below: STOPS }, { below: HUMAN + STOPS }],
  ['a new step in place of the one that stopped', { below: STOPS }, { below: HUMAN }],
  [
    'a step of the same name in another pipeline',
    { below: PASSED },
    { p: CALL.replace('pipeline: below', 'pipeline: passed') + ACT, passed: PASSED },
  ],
])('what asked nobody is no approval where people are asked now: %s', async (_, before, after) => {
  const agents = { one: () => sure(0.9), stops: () => ({ ...sure(0.9), proceed: false }) };
  const pipelines = (texts: Record<string, string>) => Object.entries(texts).map(([name, text]) => named(name, text));
  world = await createWorld({ pipelines: pipelines({ p: CALL + ACT, below: ACT, ...before }), agents });
  const original = await world.run('p');
  expect(original.run.status).toBe('completed');
  const below = await askedBelow(world.database.db, subRunsOf(original));
  expect(plan(original, 'act', { below })).toMatchObject({ kind: 'ready' });
  const changed = await createWorld({ pipelines: pipelines({ asking: HUMAN, ...after }) });
  for (const [name, pipeline] of changed.pipelines) world.pipelines.set(name, pipeline);
  await changed.close();
  expect(plan(original, 'act', { below })).toMatchObject({
    kind: 'invalid',
    message: expect.stringMatching(/was not approved|no result of step "sub"/),
  });
});

test('a question after the step that stopped a sub-run was none', async () => {
  const pipelines = [named('p', CALL + ACT), named('below', STOPS + HUMAN)];
  const agents = { one: () => sure(0.9), stops: () => ({ ...sure(0.9), proceed: false }) };
  world = await createWorld({ pipelines, agents });
  const original = await world.run('p');
  const below = await askedBelow(world.database.db, subRunsOf(original));
  expect(plan(original, 'act', { below })).toMatchObject({ kind: 'ready' });
});

test('results of a run of another namespace are not taken over by a pipeline that has its name now', async () => {
  world = await createWorld({ pipelines: [TEXT], agents: { one: () => sure(0.9), two: () => sure(0.2) } });
  const original = await world.run('p');
  expect(plan(original, 'two', { namespace: 'shop' })).toEqual({
    kind: 'invalid',
    message: 'pipeline "p" is of another namespace now; rerun from the start',
  });
  expect(plan(original, null, { namespace: 'shop' })).toMatchObject({ kind: 'ready' });
});

test('a run is rerun by a pipeline of another namespace that has its name now only where that would get its alert', async () => {
  world = await createWorld({ pipelines: [TEXT], agents: { one: () => sure(0.9), two: () => sure(0.2) } });
  const original = await world.run('p');
  const give = (namespace: string, tenant: Tenant | null, match: Record<string, unknown> = {}) =>
    world.pipelines.set('p', {
      ...world.pipelines.get('p')!,
      standing: { namespace, admitted: tenant !== null, tenant },
      admission: compileMatch(match),
    });
  const refused = {
    kind: 'invalid',
    message:
      'pipeline "p" is of another namespace now; it does not get this alert (tenancy.namespaces), start it by hand',
  };
  give('shop', {}, { severity: 'none' });
  for (const from of [null, 'two']) expect(plan(original, from)).toEqual(refused);
  expect(plan(original, 'two', { namespace: 'shop' })).toMatchObject({ kind: 'ready' });
  give('shop', {});
  expect(plan(original, null)).toMatchObject({ kind: 'ready' });
  // Of a namespace that is not listed.
  give('dev', null);
  expect(plan(original, null)).toEqual(refused);
});

test('an approval that was given in testing does not hold in production', async () => {
  world = await createWorld({
    pipelines: [
      `name: p\nstage: testing\nsteps:\n${HUMAN.replace('timeout_seconds: 1', 'timeout_seconds: 1, on_timeout: proceed')}${ACT}`,
    ],
    agents: { one: () => sure(0.9) },
  });
  const original = await world.run('p');
  const approved = {
    ...original,
    steps: original.steps.map((step) => ({ ...step, status: 'completed' as const })),
  };
  expect(plan(approved, 'act')).toMatchObject({ kind: 'ready' });
  const now = world.pipelines.get('p')!;
  world.pipelines.set('p', { ...now, config: { ...now.config, stage: 'production' } });
  const message = expect.stringContaining('step "approve" asks people and was approved in stage testing');
  expect(plan(approved, 'act')).toMatchObject({ kind: 'invalid', message });
  expect(plan(approved, 'approve')).toMatchObject({ kind: 'ready' });
});

test('a rerun from what is no step says what it is, and where the run can be rerun from', async () => {
  const group = `  - {name: both, parallel: {steps: [{name: left, executor: gateway, agent: one, prompt_template: x}]}}\n`;
  world = await createWorld({ pipelines: [`${TEXT}${group}`], agents: { one: () => sure(0.9), two: () => sure(0.2) } });
  const original = await world.run('p');

  expect(plan(original, 'twoo')).toEqual({
    kind: 'invalid',
    message: 'the run has no step "twoo"; this run can be rerun from one, two, three',
  });
  expect(plan(original, 'left')).toEqual({
    kind: 'invalid',
    message: '"left" is a branch of step "both"; this run can be rerun from one, two, three',
  });
  const old = { ...original, steps: original.steps.map((step) => ({ ...step, stepName: `old-${step.stepName}` })) };
  expect(plan(old, 'old-two')).toEqual({
    kind: 'invalid',
    message: 'the pipeline has no step "old-two" any more; this run can be rerun from one',
  });
});

const stateOf = async ({ run }: Ended) => (await attentionOf(world.database.db, run.id))?.state ?? null;

test('a rerun that completes resolves its original and what that repeated, also after a restart', async () => {
  let confidence = 0.2;
  let stuck = false;
  world = await createWorld({
    pipelines: [TEXT],
    agents: {
      one: () => sure(0.9),
      two: (call) => (stuck ? hang(call) : sure(confidence)),
      three: () => sure(0.9),
    },
  });
  const first = await world.run('p');
  expect(await stateOf(first)).toBe('open');
  const second = await world.ended(await begin(plan(first, null)));
  expect([await stateOf(first), await stateOf(second)]).toEqual(['open', 'open']);
  [confidence, stuck] = [0.9, true];
  const id = await begin(plan(second, null));
  await expect.poll(() => world.calls.at(-1)?.agent).toBe('two');
  await world.restart();
  stuck = false;
  await world.engine.resume();
  const third = await world.ended(id);
  expect(await stateOf(third)).toBeNull();
  expect(await attentionOf(world.database.db, first.run.id)).toMatchObject({
    state: 'resolved',
    resolution: 'handled',
    resolvedBy: 'signalbox',
    note: `The rerun ${id} completed.`,
  });
  expect(await stateOf(second)).toBe('resolved');
});

test('a rerun in stage testing, where nobody is notified, resolves nothing', async () => {
  let confidence = 0.2;
  const agents = { one: () => sure(confidence), two: () => sure(0.9), three: () => sure(0.9) };
  world = await createWorld({ pipelines: [TEXT], agents });
  const first = await world.run('p');
  confidence = 0.9;
  const planned = plan(first, null);
  if (planned.kind !== 'ready') throw new Error(planned.kind);
  const { pipeline } = planned.request;
  const inTesting = { ...pipeline, config: { ...pipeline.config, stage: 'testing' as const } };
  const again = await world.ended(
    await begin({ ...planned, request: { ...planned.request, pipeline: inTesting } }, 'testing'),
  );
  expect(again.run).toMatchObject({ status: 'completed', stage: 'testing' });
  expect(await stateOf(first)).toBe('open');
});

test.each([
  ['a production run that escalates is open', 'production', 0.2, 'open'],
  ['a testing one needs nobody', 'testing', 0.2, null],
  ['a completed one needs nobody', 'production', 0.9, null],
])('%s', async (_, stage, confidence, state) => {
  const text = TEXT.replace('stage: production', `stage: ${stage}`);
  world = await createWorld({
    pipelines: [text],
    agents: { one: () => sure(confidence), two: () => sure(0.9), three: () => sure(0.9) },
  });
  expect(await stateOf(await world.run('p'))).toBe(state);
});

test('a sub-run that escalates needs nobody: its parent does', async () => {
  const parent = 'name: p\nstage: production\nsteps:\n  - {name: sub, executor: pipeline, pipeline: below}\n';
  world = await createWorld({
    pipelines: [parent, TEXT.replace('name: p', 'name: below')],
    agents: { one: () => sure(0.2), two: () => sure(0.9), three: () => sure(0.9) },
  });
  const ended = await world.run('p');
  const rows = await world.database.db.selectFrom('attention').select('run_id').execute();
  expect(rows).toEqual([{ run_id: ended.run.id }]);
});
