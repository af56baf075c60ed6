import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Approval, Decider } from '../human/approval.ts';
import { createWorld, hang, sure, type Script, type World, type WorldOptions } from '../fixtures/engine.ts';
import type { ToolRequest } from '../state/executor.ts';

let world: World;
const make = async (options: WorldOptions) => (world = await createWorld(options));
afterEach(() => world.close());

const ADA: Decider = { name: 'ada', kind: 'token', role: 'operator', requestId: null };
const PIPELINE = `name: p\nstage: production\nsteps:\n  - {name: fix, executor: gateway, agent: fixer, prompt_template: x, timeout_seconds: 60}\n`;
const REQUEST: ToolRequest = {
  backendRunId: 'g1',
  callId: 'c1',
  agent: 'fixer',
  server: 'cluster',
  tool: 'restart',
  input: { name: 'checkout' },
  reason: 'touches production',
};
/** printf '{"name":"checkout"}' | sha256sum */
const HASH = 'f8d142e63ca6302fa4e3c5b81c60d0c8c7529b70a98646e03c83a7a1e5b80801';
const asks: Script = async ({ onApproval }) => sure(0.9, { decision: await onApproval?.(REQUEST) });

const pending = async () => (await world.approvals.list({ status: 'pending' }, { limit: 9, offset: 0 })).approvals;
const waiting = () =>
  expect
    .poll(async () => (await pending()).length)
    .toBe(1)
    .then(async () => (await pending())[0]!);
const decide = (id: string, decision: 'approve' | 'reject') =>
  world.approvals.decide(id, { verdict: { decision, fields: {}, comment: null }, by: ADA });

test.each([
  ['approve', true],
  ['reject', false],
] as const)('a tool that needs a person: %s goes back to the agent', async (decision, approved) => {
  await make({ pipelines: [PIPELINE], agents: { fixer: asks } });
  const id = await world.start('p');
  const question = await waiting();
  expect(question).toMatchObject({
    kind: 'tool',
    stepName: 'fix',
    tool: {
      agent: 'fixer',
      server: 'cluster',
      tool: 'restart',
      input: { name: 'checkout' },
      inputSha256: HASH,
      reason: 'touches production',
    },
  });
  await decide(question.id, decision);
  const run = await world.ended(id);
  expect(run.run).toMatchObject({ status: 'completed', waitingOn: null });
  expect(run.step('fix').output).toEqual({
    decision: { approved, inputSha256: HASH, decidedBy: 'ada', comment: null },
  });
  expect(run.events).toEqual([
    'run_started',
    'step_started',
    'approval_requested',
    'approval_decided',
    'step_completed',
    'run_completed',
  ]);
});

test('the same question asked again is the same approval, and a decided one is not asked again', async () => {
  const twice: Script = async ({ onApproval }) => {
    const both = await Promise.all([onApproval?.(REQUEST), onApproval?.(REQUEST)]);
    return sure(0.9, { decisions: [...both, await onApproval?.(REQUEST)].map((one) => one?.approved) });
  };
  await make({ pipelines: [PIPELINE], agents: { fixer: twice } });
  const id = await world.start('p');
  await decide((await waiting()).id, 'approve');
  const run = await world.ended(id);
  expect(run.step('fix').output).toEqual({ decisions: [true, true, true] });
  expect((await world.approvals.list({}, { limit: 9, offset: 0 })).total).toBe(1);
});

test.each([
  ['input', { input: { name: 'payments' } }],
  ['tool', { tool: 'delete' }],
  ['server', { server: 'database' }],
])('a call of the same id with another %s is another question', async (_, change) => {
  const other = { ...REQUEST, ...change };
  const twice: Script = async ({ onApproval }) => {
    const [first, second] = [await onApproval?.(REQUEST), await onApproval?.(other)];
    return sure(0.9, { decisions: [first?.approved, second?.approved] });
  };
  await make({ pipelines: [PIPELINE], agents: { fixer: twice } });
  const id = await world.start('p');
  await decide((await waiting()).id, 'approve');
  await expect.poll(async () => (await pending())[0]?.tool).toMatchObject(change);
  await decide((await pending())[0]!.id, 'reject');
  expect((await world.ended(id)).step('fix').output).toEqual({ decisions: [true, false] });
});

test('nobody decides before the step is over: denied', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await make({ pipelines: [PIPELINE], agents: { fixer: asks } });
  const id = await world.start('p');
  await waiting();
  vi.advanceTimersByTime(60_000);
  const run = await world.ended(id);
  expect(run.step('fix').error?.type).toBe('timeout');
  expect((await world.approvals.list({}, { limit: 9, offset: 0 })).approvals).toMatchObject([{ status: 'timed_out' }]);
});

test('an agent that gives up takes its question back', async () => {
  const impatient: Script = async ({ onApproval }) => {
    void onApproval?.(REQUEST);
    await expect.poll(async () => (await pending()).length).toBe(1);
    return sure(0.9);
  };
  await make({ pipelines: [PIPELINE], agents: { fixer: impatient } });
  expect((await world.run('p')).run.status).toBe('completed');
  expect((await world.approvals.list({}, { limit: 9, offset: 0 })).approvals).toMatchObject([{ status: 'cancelled' }]);
});

test('after a restart the question waits on, and its answer reaches the second try', async () => {
  let first = true;
  const script: Script = (call) => {
    if (!first) return asks(call);
    first = false;
    void call.onApproval?.(REQUEST).catch(() => undefined);
    return hang(call);
  };
  await make({ pipelines: [PIPELINE], agents: { fixer: script } });
  const id = await world.start('p');
  const before = await waiting();
  await world.restart();
  expect(await decide(before.id, 'approve')).toMatchObject({ kind: 'decided' });
  await world.engine.resume();
  const run = await world.ended(id);
  expect(run.step('fix').output).toMatchObject({ decision: { approved: true } });
});

test('where the agent is asked anew after a restart, what its first run asked waits no longer', async () => {
  let tries = 0;
  const script: Script = async (call) => {
    tries += 1;
    if (tries === 2) return sure(0.9, { decision: await call.onApproval?.({ ...REQUEST, backendRunId: 'g2' }) });
    void call.onApproval?.(REQUEST).catch(() => undefined);
    void call.onApproval?.({ ...REQUEST, callId: 'c2' }).catch(() => undefined);
    return hang(call);
  };
  await make({ pipelines: [PIPELINE], agents: { fixer: script } });
  const id = await world.start('p');
  await expect.poll(async () => (await pending()).length).toBe(2);
  const before = await pending();
  await world.restart();
  const told: Approval[] = [];
  world.approvals.onClosed((approval) => told.push(approval));
  await world.engine.resume();
  const now = await waiting();
  await expect.poll(() => told.map(({ id }) => id).toSorted()).toEqual(before.map(({ id }) => id).toSorted());
  expect(told.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  for (const old of before) expect(await decide(old.id, 'approve')).toMatchObject({ kind: 'conflict' });
  await decide(now.id, 'approve');
  expect((await world.ended(id)).step('fix').output).toMatchObject({ decision: { approved: true } });
});
