import { afterEach, expect, test } from 'vitest';
import { createWorld, hang, sure, type Script, type World, type WorldOptions } from '../fixtures/engine.ts';

let world: World;
const make = async (options: WorldOptions) => (world = await createWorld(options));
afterEach(() => world.close());

const failure: Script = () => ({ ok: false, type: 'broken', message: 'broken', retryable: false });
const branch = (name: string, more = '') =>
  `        - {name: ${name}, executor: gateway, agent: ${name}, prompt_template: hi${more}}\n`;
const group = (join: string, branches: string, more = '') =>
  `name: p\nsteps:\n  - name: gather\n    parallel:\n      join: ${join}\n      steps:\n${branches}${more}`;

test.each<[string, string, Record<string, Script>, number | null, string]>([
  ['all_must_pass takes the lowest', 'all_must_pass', { a: () => sure(0.9), b: () => sure(0.8) }, 0.8, 'completed'],
  ['any_must_pass takes the highest', 'any_must_pass', { a: () => sure(0.2), b: () => sure(0.8) }, 0.8, 'completed'],
  ['a failed branch counts as 0', 'all_must_pass', { a: () => sure(0.9), b: failure }, 0, 'escalated'],
  ['a failed branch does not hide a good one', 'any_must_pass', { a: () => sure(0.9), b: failure }, 0.9, 'completed'],
])('%s', async (_, join, agents, trust, status) => {
  await make({ pipelines: [group(join, branch('a') + branch('b'))], agents });
  const run = await world.run('p');
  expect(run.run.status).toBe(status);
  expect(run.step('gather')).toMatchObject({ kind: 'parallel', effectiveConfidence: trust, trustReport: { trust } });
});

test.each<[string, Record<string, Script>, string]>([
  [
    'all_must_pass',
    { a: () => sure(0.9), b: () => sure(0.3) },
    'Not passed: trust 0.30 against 0.75, set by b, the lowest of 2 branches; the run is escalated.',
  ],
  [
    'all_must_pass',
    { a: () => sure(0.9), b: failure },
    'Not passed: trust 0.00 against 0.75, set by 1 failed branch of 2: b; the run is escalated.',
  ],
  [
    'any_must_pass',
    { a: failure, b: () => sure(0.8) },
    'Passed: trust 0.80 against 0.75, set by b, the highest of 2 branches.',
  ],
  [
    'weighted_average',
    { a: () => sure(0.9), b: () => sure(0.8) },
    'Passed: trust 0.85 against 0.75, set by weighted_average over 2 branches.',
  ],
  [
    'weighted_average',
    { a: () => sure(0.9), b: failure },
    'Not passed: trust 0.45 against 0.75, set by weighted_average over 2 branches, with 1 failed branch of 2: b; the run is escalated.',
  ],
])('a group joined by %s says which branch decides', async (join, agents, sentence) => {
  await make({ pipelines: [group(join, branch('a') + branch('b'))], agents });
  expect((await world.run('p')).step('gather').trustReport?.sentence).toBe(sentence);
});

test('weighted_average weighs the branches', async () => {
  await make({
    pipelines: [group('weighted_average', branch('a', ', weight: 3') + branch('b'))],
    agents: { a: () => sure(1), b: () => sure(0.2) },
  });
  expect((await world.run('p')).step('gather').effectiveConfidence).toBeCloseTo(0.8);
});

test('when all branches fail the group fails', async () => {
  await make({ pipelines: [group('any_must_pass', branch('a') + branch('b'))], agents: { a: failure, b: failure } });
  expect((await world.run('p')).run).toMatchObject({
    status: 'failed',
    error: { step: 'gather', message: expect.stringMatching(/^all branches failed; [ab]: broken$/) },
  });
});

test('a group that a branch ends says which one, and why', async () => {
  const message = 'the budget is spent';
  const spent: Script = () => ({ ok: false, type: 'budget', message, retryable: false, ends: 'escalated' });
  await make({
    pipelines: [group('any_must_pass', branch('a') + branch('b'))],
    agents: { a: () => sure(0.9), b: spent },
  });
  expect((await world.run('p')).run).toMatchObject({
    status: 'escalated',
    error: { step: 'gather', message: 'branch b was escalated: the budget is spent' },
  });
});

test('branches run at the same time and later steps see each by name', async () => {
  const both = Promise.withResolvers<void>();
  let running = 0;
  const slow: Script = async () => {
    if (++running === 2) both.resolve();
    await both.promise;
    return sure(0.9);
  };
  const after =
    '  - {name: after, executor: gateway, agent: after, prompt_template: "{{steps.a.summary}} {{steps.gather.output.branches.[1].name}}"}\n';
  await make({
    pipelines: [group('all_must_pass', branch('a') + branch('b'), after)],
    agents: { a: slow, b: slow, after: () => sure(0.9) },
  });
  expect((await world.run('p')).step('after').rawResponse?.prompt).toBe('looked b');
});

const fanOut = (more = '', over = 'metadata.services') =>
  `name: p\nsteps:\n  - name: each\n    fan_out: {over: '${over}', as: service, ${more} step: {executor: gateway, agent: a, prompt_template: "{{service}} {{fan_out.index}} of {{fan_out.total}}"}}\n`;
const services = (count: number) => ({ metadata: { services: Array.from({ length: count }, (_, at) => `s${at}`) } });

test('a fan-out asks once an item and names its branches <step>/<index>', async () => {
  await make({ pipelines: [fanOut('max_parallel: 2,')], agents: { a: () => sure(0.9) } });
  const run = await world.run('p', services(5));
  expect(run.steps.filter(({ kind }) => kind === 'fan_out_branch').map(({ stepName }) => stepName)).toEqual([
    'each/0',
    'each/1',
    'each/2',
    'each/3',
    'each/4',
  ]);
  expect(run.step('each/3').rawResponse?.prompt).toBe('s3 3 of 5');
  expect(run.step('each')).toMatchObject({
    kind: 'fan_out',
    status: 'completed',
    rawResponse: { items: ['s0', 's1', 's2', 's3', 's4'] },
  });
});

test('a fan-out names the first branches that failed, and how many there are', async () => {
  const script: Script = (call) => (Number(call.stepName.slice('each/'.length)) < 4 ? sure(0.9) : failure(call));
  await make({ pipelines: [fanOut('max_parallel: 1,')], agents: { a: script } });
  expect((await world.run('p', services(12))).run.error?.message).toContain(
    'set by 8 failed branches of 12: each/4, each/5, each/6, each/7, each/8, …;',
  );
});

test('max_parallel bounds the branches in flight', async () => {
  const three = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  const slow: Script = async () => {
    most = Math.max(most, ++running);
    if (running === 3) three.resolve();
    await three.promise;
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    running -= 1;
    return sure(0.9);
  };
  await make({ pipelines: [fanOut('max_parallel: 3,')], agents: { a: slow } });
  expect((await world.run('p', services(12))).run.status).toBe('completed');
  expect(most).toBe(3);
});

test.each([
  ['complete', 'completed', 'completed'],
  ['skip', 'completed', 'skipped'],
  ['abort', 'aborted', 'aborted'],
])('an empty list with on_empty: %s', async (rule, runStatus, stepStatus) => {
  await make({ pipelines: [fanOut(`on_empty: ${rule},`)], agents: {} });
  const run = await world.run('p', services(0));
  expect([run.run.status, run.step('each').status]).toEqual([runStatus, stepStatus]);
});

test.each([
  ['a list that is too long', fanOut('max_items: 2,'), services(3), 'max_items is 2'],
  ['no list', fanOut(), { metadata: { services: 'cart' } }, 'does not yield a list'],
  ['a missing value', fanOut(), {}, 'over:'],
])('%s fails the fan-out', async (_, text, context, message) => {
  await make({ pipelines: [text], agents: {} });
  expect((await world.run('p', context)).step('each').error?.message).toContain(message);
});

test('a fan-out that was interrupted goes on with the items it began with and asks only what is open', async () => {
  let stuck = true;
  const script: Script = (call) => (call.stepName === 'each/1' && stuck ? hang(call) : sure(0.9));
  await make({ pipelines: [fanOut('max_parallel: 1,')], agents: { a: script } });
  const id = await world.start('p', services(3));
  await expect.poll(() => world.calls.length).toBe(2);
  await world.restart();
  stuck = false;
  await world.engine.resume();
  const run = await world.ended(id);
  expect(run.run.status).toBe('completed');
  expect(world.calls.map(({ stepName }) => stepName)).toEqual(['each/0', 'each/1', 'each/1', 'each/2']);
});

test('cancelling a fan-out stops what runs and starts nothing more', async () => {
  await make({ pipelines: [fanOut('max_parallel: 2,')], agents: { a: hang } });
  const id = await world.start('p', services(50));
  await expect.poll(() => world.calls.length).toBe(2);
  await world.engine.cancel(id, 'ann');
  const run = await world.ended(id);
  expect(run.run.status).toBe('cancelled');
  expect(world.calls).toHaveLength(2);
});

const CHILD =
  'name: child\nstage: production\nsteps:\n  - {name: work, executor: gateway, agent: work, prompt_template: "{{team}} {{labels.service}} {{summary}}"}\n';
const PARENT =
  'name: p\nstage: production\nsteps:\n  - {name: call, executor: pipeline, pipeline: child, confidence_threshold: 0.5, context: {team: ops, labels: {service: "{{labels.service}}-db"}}}\n';

test("a sub-pipeline is a run of its own, in the team that was named, and its last trust is the step's", async () => {
  await make({ pipelines: [PARENT, CHILD], agents: { work: () => sure(0.8) } });
  const run = await world.run('p');
  expect(run.step('call')).toMatchObject({
    status: 'completed',
    primaryConfidence: 0.8,
    trustReport: { sentence: 'Passed: trust 0.80 against 0.50, set by the last gate of the sub-run.' },
  });
  const [child] = run.children;
  expect(child).toMatchObject({
    pipelineName: 'child',
    status: 'completed',
    team: 'ops',
    parentRunId: run.run.id,
    source: 'pipeline',
  });
  expect(world.calls[0]?.input).toBe('ops checkout-db the checkout is slow');
});

test('a sub-run inherits the team, and testing runs start only testing runs', async () => {
  const parent = PARENT.replace('stage: production', 'stage: testing').replace(
    ', context: {team: ops, labels: {service: "{{labels.service}}-db"}}',
    '',
  );
  await make({ pipelines: [parent, CHILD], agents: { work: () => sure(0.8) } });
  expect((await world.run('p')).children[0]).toMatchObject({ team: 'payments', stage: 'testing' });
});

test.each([
  ['{{labels.none}}', '1 to 64 characters, and this one has 0'],
  ['{{vars.long}}', '1 to 64 characters, and this one has 65'],
])('a step starts no sub-run of the team %s', async (team, message) => {
  const parent = `${PARENT.replace('team: ops', `team: "${team}"`)}vars: {long: ${'x'.repeat(65)}}\n`;
  await make({ pipelines: [parent, CHILD], agents: { work: () => sure(0.8) } });
  const run = await world.run('p');
  const error = { type: 'template_failed', message: `context.team: a team has ${message}` };
  expect(run.step('call')).toMatchObject({ status: 'failed', error });
  expect(run.children).toEqual([]);
});

test('fields of a sub-run are cut as those of an alert, and its log says so', async () => {
  const long = '"{{#each vars.many}}{{this}}{{/each}}"';
  const parent = `${PARENT.replace('labels: {service: "{{labels.service}}-db"}', `severity: ${long}, summary: ${long}, labels: {service: ${long}}`)}vars: {many: [${Array.from({ length: 200 }, () => 'x'.repeat(100)).join()}]}\n`;
  await make({ pipelines: [parent, CHILD], agents: { work: () => sure(0.8) } });
  const [child] = (await world.run('p')).children;
  const { run, events } = await world.ended(child?.id ?? '');
  const cut = /^x+… \[cut from 20000 bytes\]$/;
  expect(run).toMatchObject({ severity: expect.stringMatching(cut), summary: expect.stringMatching(cut) });
  expect([run.severity?.length, run.summary?.length]).toEqual([expect.closeTo(240, -2), expect.closeTo(8_170, -2)]);
  expect(events).toContain('fields_cut');
});

test('a suspended pipeline is not started by a step either', async () => {
  await make({ pipelines: [PARENT, `${CHILD}suspend: true\n`], agents: { work: () => sure(0.8) } });
  const run = await world.run('p');
  expect(run.step('call')).toMatchObject({ status: 'failed', error: { type: 'suspended' } });
  expect(run.children).toEqual([]);
});

test('what a sub-run ends as, its step and run end as', async () => {
  await make({ pipelines: [PARENT, CHILD], agents: { work: () => sure(0.1) } });
  const run = await world.run('p');
  expect([run.run.status, run.step('call').status]).toEqual(['escalated', 'escalated']);
});

test('an interrupted sub-run goes on with its parent and is not started twice', async () => {
  let stuck = true;
  await make({ pipelines: [PARENT, CHILD], agents: { work: (call) => (stuck ? hang(call) : sure(0.8)) } });
  const id = await world.start('p');
  await expect.poll(() => world.calls.length).toBe(1);
  await world.restart();
  stuck = false;
  await world.engine.resume();
  const run = await world.ended(id);
  expect(run.run.status).toBe('completed');
  expect(run.children).toHaveLength(1);
  expect(run.children[0]).toMatchObject({ status: 'completed' });
});

test('cancelling a parent cancels its sub-run', async () => {
  await make({ pipelines: [PARENT, CHILD], agents: { work: hang } });
  const id = await world.start('p');
  await expect.poll(() => world.calls.length).toBe(1);
  await world.engine.cancel(id, 'ann');
  const run = await world.ended(id);
  expect([run.run.status, run.children[0]?.status]).toEqual(['cancelled', 'cancelled']);
});

test('a sub-run whose time is over before there is a place for it ends as a run that took too long', async () => {
  const child = CHILD.replace('steps:', 'concurrency: {limit: 1}\nsteps:');
  const hurried = PARENT.replace('name: p\n', 'name: hurried\ntimeout_seconds: 1\n');
  await make({ pipelines: [PARENT, hurried, child], agents: { work: hang } });
  await world.start('p');
  await expect.poll(() => world.calls.length).toBe(1);
  const { children, run } = await world.run('hurried');
  expect(children[0]).toMatchObject({ status: 'failed', error: { message: 'the run took longer than 1 s' } });
  expect(run).toMatchObject({ status: 'failed', error: { message: 'the run took longer than 1 s' } });
});

test('a sub-run escalates after a restart where its own pipeline says so, and its parent with it', async () => {
  const child = CHILD.replace('steps:', 'durable: {on_interrupted: escalate}\nsteps:');
  await make({ pipelines: [PARENT, child], agents: { work: hang } });
  const id = await world.start('p');
  await expect.poll(() => world.calls.length).toBe(1);
  await world.restart();
  await world.engine.resume();
  const { run, children } = await world.ended(id);
  expect(children[0]).toMatchObject({ status: 'escalated' });
  expect(run).toMatchObject({
    status: 'escalated',
    error: { message: expect.stringContaining('was interrupted by a restart (durable.on_interrupted: escalate)') },
  });
  expect(world.calls).toHaveLength(1);
});

test('a sub-run whose parent escalates after a restart ends with it', async () => {
  const parent = PARENT.replace('steps:', 'durable: {on_interrupted: escalate}\nsteps:');
  await make({ pipelines: [parent, CHILD], agents: { work: hang } });
  const id = await world.start('p');
  await expect.poll(() => world.calls.length).toBe(1);
  await world.restart();
  await world.engine.resume();
  expect((await world.ended(id)).run.status).toBe('escalated');
  await expect.poll(async () => (await world.ended(id)).children[0]?.status).toBe('cancelled');
});
