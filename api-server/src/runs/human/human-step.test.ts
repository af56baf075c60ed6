import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Approval, Decided, Decider } from './approval.ts';
import { createWorld, sure, type World, type WorldOptions } from '../fixtures/engine.ts';

let world: World;
const make = async (options: WorldOptions) => (world = await createWorld(options));
afterEach(() => world.close());

const ADA: Decider = { name: 'ada', kind: 'token', role: 'operator', requestId: null };
const human = (more = '') =>
  `  - {name: approve, executor: human, timeout_seconds: 900, prompt_template: "Restart {{labels.service}}?"${more}}\n`;
const FIELDS = ', fields: [{name: replicas, type: integer, default: 2}, {name: why, required: true}]';
const after =
  '  - {name: act, executor: gateway, agent: act, prompt_template: "{{steps.approve.output.replicas}} by {{steps.approve.summary}}"}\n';
const pipeline = (steps: string, more = '') => `name: p\nstage: production\n${more}\nsteps:\n${steps}`;
const agents = { act: () => sure(0.9) };

/** The questions that wait, once there are `count`. */
const waiting = (count = 1): Promise<Approval[]> =>
  expect
    .poll(async () => (await world.approvals.list({ status: 'pending' }, { limit: 50, offset: 0 })).approvals)
    .toHaveLength(count)
    .then(async () => (await world.approvals.list({ status: 'pending' }, { limit: 50, offset: 0 })).approvals);
const held = () => expect.poll(() => world.approvals.pendingByTeam().get('payments') ?? 0).toBeGreaterThan(0);

const approve = (id: string, fields: Record<string, unknown> = {}, comment: string | null = null): Promise<Decided> =>
  world.approvals.decide(id, { verdict: { decision: 'approve', fields, comment }, by: ADA });
const reject = (id: string): Promise<Decided> =>
  world.approvals.decide(id, { verdict: { decision: 'reject', fields: {}, comment: 'too risky' }, by: ADA });

const counted = async () => {
  const rows = await world.database.db
    .selectFrom('counters')
    .selectAll()
    .where('metric', '=', 'human_approval_decisions_total')
    .execute();
  return rows.map(({ labels, value }) => [JSON.parse(labels), value]);
};
const audit = () => world.database.db.selectFrom('audit').selectAll().execute();
const waitingOn = async (id: string) =>
  (await world.database.db.selectFrom('runs').select('waiting_on').where('id', '=', id).executeTakeFirstOrThrow())
    .waiting_on;

test('an approval completes the step with confidence 1 and the fields as its output', async () => {
  await make({ pipelines: [pipeline(human(FIELDS) + after)], agents });
  const id = await world.start('p');
  const [question] = await waiting();
  expect(question).toMatchObject({
    runId: id,
    stepName: 'approve',
    question: 'Restart checkout?',
    team: 'payments',
    status: 'pending',
  });
  expect(await waitingOn(id)).toBe('human');
  expect(await approve(question!.id, { why: 'it is stuck' }, 'go')).toMatchObject({ kind: 'decided' });
  const run = await world.ended(id);
  expect(run.run).toMatchObject({ status: 'completed', waitingOn: null });
  expect(run.step('approve')).toMatchObject({
    status: 'completed',
    primaryConfidence: 1,
    output: { replicas: 2, why: 'it is stuck' },
    summary: 'approved by ada: go',
  });
  expect(world.calls[0]?.input).toBe('2 by approved by ada: go');
  expect(run.events).toEqual([
    'run_started',
    'step_started',
    'approval_requested',
    'approval_decided',
    'step_completed',
    'step_started',
    'step_completed',
    'run_completed',
  ]);
  expect(await counted()).toEqual([[['payments', 'p', 'approved'], 1]]);
  expect(await audit()).toMatchObject([
    {
      actor: 'ada',
      actor_kind: 'token',
      role: 'operator',
      action: 'approve',
      run_id: id,
      outcome: 'approved',
    },
  ]);
});

test('a rejection aborts the run with confidence 0', async () => {
  await make({ pipelines: [pipeline(human() + after)], agents });
  const id = await world.start('p');
  const [question] = await waiting();
  await reject(question!.id);
  const run = await world.ended(id);
  expect(run.run).toMatchObject({
    status: 'aborted',
    error: { step: 'approve', message: 'rejected by ada: too risky' },
  });
  expect(run.step('approve')).toMatchObject({ status: 'aborted', primaryConfidence: 0 });
  expect(world.calls).toHaveLength(0);
  expect(await counted()).toEqual([[['payments', 'p', 'rejected'], 1]]);
});

test.each([
  ['fail', 'failed', 'failed'],
  ['escalate', 'escalated', 'escalated'],
  ['proceed', 'completed', 'completed'],
])('nobody decides in time with on_timeout: %s', async (rule, runStatus, stepStatus) => {
  const soon = human(`, on_timeout: ${rule}${FIELDS}`).replace('timeout_seconds: 900', 'timeout_seconds: 1');
  await make({ pipelines: [pipeline(soon + after)], agents });
  const run = await world.run('p');
  expect(run.run.status).toBe(runStatus);
  expect(run.step('approve')).toMatchObject({ status: stepStatus, primaryConfidence: null });
  if (rule !== 'proceed') expect(run.step('approve').error?.type).toBe('timeout');
  expect(run.events).toContain('approval_expired');
  const { approvals } = await world.approvals.list({}, { limit: 5, offset: 0 });
  expect(approvals).toMatchObject([{ status: 'timed_out', decidedBy: null }]);
  expect(await approve(approvals[0]!.id, { why: 'x' })).toMatchObject({ kind: 'expired' });
  expect([await counted(), await audit()]).toEqual([[], []]);
});

test('sixteen deciders at once: one wins, the others hear who, and all of it is stored once', async () => {
  await make({ pipelines: [pipeline(human())] });
  const id = await world.start('p');
  const [question] = await waiting();
  const deciders = Array.from({ length: 16 }, (_, at) => ({
    verdict: { decision: at % 2 ? ('approve' as const) : ('reject' as const), fields: {}, comment: null },
    by: { ...ADA, name: `person-${at}` },
  }));
  const results = await Promise.all(deciders.map((one) => world.approvals.decide(question!.id, one)));
  const winners = results.filter(({ kind }) => kind === 'decided');
  expect(winners).toHaveLength(1);
  const winner = (winners[0] as Extract<Decided, { kind: 'decided' }>).approval;
  const others = results.filter(({ kind }) => kind !== 'decided');
  expect(others).toHaveLength(15);
  for (const other of others)
    expect(other).toMatchObject({ kind: 'conflict', approval: { decidedBy: winner.decidedBy, status: winner.status } });
  const run = await world.ended(id);
  expect(run.run.status).toBe(winner.status === 'approved' ? 'completed' : 'aborted');
  expect(await counted()).toEqual([[['payments', 'p', winner.status], 1]]);
  expect(await audit()).toHaveLength(1);
});

test('fields are checked before anything is decided', async () => {
  await make({ pipelines: [pipeline(human(`${FIELDS.slice(0, -1)}, {name: size, options: [small, large]}]`))] });
  await world.start('p');
  const [question] = await waiting();
  const wrong = (fields: Record<string, unknown>) => approve(question!.id, fields);
  expect(await wrong({})).toEqual({ kind: 'invalid', problems: [{ loc: ['fields', 'why'], msg: 'is required' }] });
  expect(await wrong({ why: 'x', replicas: 2.5 })).toEqual({
    kind: 'invalid',
    problems: [{ loc: ['fields', 'replicas'], msg: 'must be of type integer' }],
  });
  expect(await wrong({ why: 'x', size: 'medium' })).toMatchObject({ kind: 'invalid' });
  expect(await wrong({ why: 'x', other: 1 })).toMatchObject({
    kind: 'invalid',
    problems: [{ loc: ['fields', 'other'] }],
  });
  expect(await waiting()).toHaveLength(1);
  expect(await reject(question!.id)).toMatchObject({ kind: 'decided' });
});

test('a question that waits survives a restart, with the time it had', async () => {
  await make({ pipelines: [pipeline(human() + after, 'durable: {on_interrupted: escalate}')], agents });
  const id = await world.start('p');
  const [before] = await waiting();
  await held();
  await world.restart();
  await world.engine.resume();
  const [question] = await waiting();
  expect(question).toEqual(before);
  await held();
  await approve(question!.id);
  const run = await world.ended(id);
  expect([run.run.status, run.run.waitingOn]).toEqual(['completed', null]);
  expect(run.events.slice(0, 3)).toEqual(['run_started', 'step_started', 'approval_requested']);
  expect(run.events.filter((event) => event === 'approval_requested')).toHaveLength(1);
});

test('a question with blanks has its warning after a restart, too', async () => {
  await make({ pipelines: [pipeline(human().replace('service', 'gone'))] });
  const id = await world.start('p');
  const [question] = await waiting();
  await world.restart();
  await approve(question!.id);
  await world.engine.resume();
  const run = await world.ended(id);
  const message = 'the prompt went out with blanks: there is no labels.gone';
  expect(run.step('approve').trustReport?.warnings).toEqual([{ type: 'blank_values', message }]);
  expect(run.run.warningCount).toBe(1);
});

test('a decision that was not taken up before a restart is taken up after it, once', async () => {
  await make({ pipelines: [pipeline(human() + after)], agents });
  const id = await world.start('p');
  const [question] = await waiting();
  await world.restart();
  await approve(question!.id, {}, 'from another window');
  await world.engine.resume();
  const run = await world.ended(id);
  expect(run.step('approve')).toMatchObject({ status: 'completed', summary: 'approved by ada: from another window' });
  expect(await counted()).toEqual([[['payments', 'p', 'approved'], 1]]);
});

test('a clock that is set ahead takes nobody’s time to answer', async () => {
  await make({ pipelines: [pipeline(human())] });
  const id = await world.start('p');
  const [question] = await waiting();
  await held();
  vi.useFakeTimers({ toFake: ['Date'], now: question!.expiresAt + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  // What makes the run look at its question again.
  world.approvals.heard(`approval ${question!.id}`);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await approve(question!.id)).toMatchObject({ kind: 'decided' });
  expect((await world.ended(id)).run.status).toBe('completed');
});

test('a question whose time ran out while nobody was there expires at the next start', async () => {
  await make({ pipelines: [pipeline(human(', on_timeout: escalate'))] });
  const id = await world.start('p');
  const [question] = await waiting();
  await world.restart();
  vi.useFakeTimers({ toFake: ['Date'], now: question!.expiresAt });
  onTestFinished(() => void vi.useRealTimers());
  expect(await approve(question!.id)).toMatchObject({ kind: 'expired' });
  await world.engine.resume();
  expect((await world.ended(id)).run.status).toBe('escalated');
});

test('cancelling the run closes its question', async () => {
  await make({ pipelines: [pipeline(human())] });
  const id = await world.start('p');
  const [question] = await waiting();
  expect(await world.engine.cancel(id, 'ada')).toBe('cancelled');
  expect((await world.ended(id)).step('approve').status).toBe('cancelled');
  expect(await approve(question!.id)).toMatchObject({ kind: 'conflict', approval: { status: 'cancelled' } });
  expect(world.approvals.pendingByTeam().size).toBe(0);
});

test('runs that wait for people leave the slots to others, and take one again to go on', async () => {
  await make({ pipelines: [pipeline(human() + after)], agents, maxRuns: 1 });
  world.capacity.tryTake();
  const first = await world.start('p');
  await waiting(1);
  await expect.poll(() => world.capacity.active()).toBe(0);
  world.capacity.tryTake();
  const [question] = await waiting(1);
  await approve(question!.id);
  await expect.poll(() => world.capacity.waiting()).toBe(1);
  expect(world.calls).toHaveLength(0);
  world.capacity.release();
  expect((await world.ended(first)).run.status).toBe('completed');
});

test('a shutdown waits for runs that execute, not for people', async () => {
  await make({ pipelines: [pipeline(human())] });
  world.capacity.tryTake();
  const id = await world.start('p');
  await waiting();
  await expect.poll(() => world.capacity.active(), { timeout: 10_000 }).toBe(0);
  const began = performance.now();
  await world.engine.drain(20_000);
  expect(performance.now() - began).toBeLessThan(5_000);
  await world.restart();
  await world.engine.resume();
  const [question] = await waiting();
  await approve(question!.id);
  expect((await world.ended(id)).run.status).toBe('completed');
});

const branch = (name: string, more: string) => `        - {name: ${name}, ${more}}\n`;
const question = 'executor: human, timeout_seconds: 60, prompt_template: "Sure?"';
const groupOf = (...branches: string[]) => `  - name: both\n    parallel:\n      steps:\n${branches.join('')}`;

test('a group that only waits for people gives its slot back, and takes one again with the first answer', async () => {
  const group = groupOf(
    branch('look', 'executor: gateway, agent: act, prompt_template: x'),
    branch('one', question),
    branch('two', question),
  );
  await make({ pipelines: [pipeline(group + after)], agents, maxRuns: 1 });
  world.capacity.tryTake();
  const id = await world.start('p');
  const asked = await waiting(2);
  await expect.poll(() => world.capacity.active()).toBe(0);
  // Both answers at once take one slot between them, and wait for it like anybody else.
  world.capacity.tryTake();
  await Promise.all(asked.map((one) => approve(one.id)));
  await expect.poll(() => world.capacity.waiting()).toBe(1);
  expect(world.calls).toHaveLength(1);
  world.capacity.release();
  const run = await world.ended(id);
  expect([run.run.status, run.step('both').status, run.run.waitingOn]).toEqual(['completed', 'completed', null]);
  expect(run.step('both').trustReport?.trust).toBe(0.9);
  await expect.poll(() => world.capacity.active()).toBe(0);
});

test('a branch that works keeps the slot of its group, and a rejection needs none to end the run', async () => {
  const release = Promise.withResolvers<void>();
  const slow = { act: () => release.promise.then(() => sure(0.9)) };
  const group = groupOf(
    branch('look', 'executor: gateway, agent: act, prompt_template: x'),
    branch('approve', question),
  );
  await make({ pipelines: [pipeline(group)], agents: slow, maxRuns: 1 });
  world.capacity.tryTake();
  const id = await world.start('p');
  const [asked] = await waiting();
  await held();
  expect(world.capacity.active()).toBe(1);
  release.resolve();
  await expect.poll(() => world.capacity.active()).toBe(0);
  world.capacity.tryTake();
  await reject(asked!.id);
  expect((await world.ended(id)).run.status).toBe('aborted');
});

test('a testing run counts in no metric', async () => {
  await make({ pipelines: [pipeline(human()).replace('production', 'testing')] });
  const id = await world.start('p');
  const [question] = await waiting();
  expect(world.approvals.pendingByTeam().size).toBe(0);
  await approve(question!.id);
  await world.ended(id);
  expect(await counted()).toEqual([]);
});
