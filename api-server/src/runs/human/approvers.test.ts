import { afterEach, expect, test } from 'vitest';
import { ANYBODY } from '../../service/approvals/anybody.fixture.ts';
import type { ApproverRules } from '../../service/approvals/approvers.ts';
import { createWorld, sure, type World, type WorldOptions } from '../fixtures/engine.ts';
import type { Approval, Decided, Decider } from './approval.ts';

let world: World;
const make = async (options: WorldOptions) => (world = await createWorld(options));
afterEach(() => world.close());

const human = (more: string) =>
  `  - {name: approve, executor: human, timeout_seconds: 900, prompt_template: "Restart?"${more}}\n`;
const TWO = `name: p\nstage: production\nsteps:\n${human(', required: 2, fields: [{name: replicas, type: integer, default: 2}]')}`;
const RULES: ApproverRules = {
  approvers: new Map([['default', [['ada'], ['bea'], ['cleo']]]]),
  required: 1,
  notTheStarter: false,
};
const person = (name: string): Decider => ({ name, kind: 'token', role: 'operator', requestId: null });

const waiting = async (): Promise<Approval> => {
  const read = async () => (await world.approvals.list({ status: 'pending' }, { limit: 9, offset: 0 })).approvals;
  await expect.poll(async () => (await read()).length).toBe(1);
  return (await read())[0]!;
};
const say = (id: string, decision: 'approve' | 'reject', name: string, fields: object = {}): Promise<Decided> =>
  world.approvals.decide(id, { verdict: { decision, fields: { ...fields }, comment: null }, by: person(name) });
const startedBy = (id: string, name: string) =>
  world.database.write((tx) => tx.db.updateTable('runs').set({ started_by: name }).where('id', '=', id).execute());
const outcomes = async () =>
  (await world.database.db.selectFrom('audit').selectAll().orderBy('id').execute()).map((row) => [
    row.actor,
    row.action,
    row.outcome,
    / sha256:[0-9a-f]{64}$/.test(row.target ?? ''),
  ]);

test('two different persons have to approve; the first approval survives a restart', async () => {
  await make({ pipelines: [TWO] });
  const id = await world.start('p');
  const { id: question } = await waiting();
  expect(await say(question, 'approve', 'ada')).toMatchObject({ kind: 'voted', approval: { status: 'pending' } });
  expect(await say(question, 'approve', 'ada')).toEqual({
    kind: 'forbidden',
    message: 'ada approved already; another person has to approve too',
  });
  await world.restart();
  await world.engine.resume();
  expect((await waiting()).votes.map(({ by }) => by)).toEqual(['ada']);
  expect(await say(question, 'approve', 'ada')).toMatchObject({ kind: 'forbidden' });
  expect(await say(question, 'approve', 'bea')).toMatchObject({ kind: 'decided', approval: { decidedBy: 'ada, bea' } });
  const run = await world.ended(id);
  expect(run.step('approve')).toMatchObject({ status: 'completed', summary: 'approved by ada, bea' });
  expect(await outcomes()).toEqual([
    ['ada', 'approve', 'approved, 1 of 2', true],
    ['bea', 'approve', 'approved', true],
  ]);
});

test.each<[string, Partial<ApproverRules>, [string, Decided['kind']], string]>([
  ['a second person', { required: 2 }, ['ada', 'voted'], 'ada, bea'],
  ['another person than the starter', { notTheStarter: true }, ['ada', 'forbidden'], 'bea'],
])('an approval that waits needs %s once the operator asks for it', async (_, stricter, [first, kind], decidedBy) => {
  const options = { pipelines: [TWO.replace(' required: 2,', '')], rules: RULES };
  await make(options);
  const id = await world.start('p');
  await startedBy(id, 'ada');
  const { id: question } = await waiting();
  options.rules = { ...RULES, ...stricter };
  await world.restart();
  await world.engine.resume();
  expect(await waiting()).toMatchObject(stricter);
  expect((await say(question, 'approve', first)).kind).toBe(kind);
  expect(await say(question, 'approve', 'bea')).toMatchObject({ kind: 'decided', approval: { decidedBy } });
  expect((await world.ended(id)).run.status).toBe('completed');
});

test.each<[string, ApproverRules]>([
  ['who is no approver any more', { ...RULES, approvers: new Map([['default', [['bea'], ['cleo']]]]) }],
  ['who started the run and may not approve any more', { ...RULES, notTheStarter: true }],
])('an approval of a person %s does not count for the second one', async (_, rules) => {
  const options = { pipelines: [TWO], rules: RULES };
  await make(options);
  const id = await world.start('p');
  await startedBy(id, 'ada');
  const { id: question } = await waiting();
  expect(await say(question, 'approve', 'ada', { replicas: 30 })).toMatchObject({ kind: 'voted' });
  options.rules = rules;
  await world.restart();
  await world.engine.resume();
  expect(await say(question, 'approve', 'bea')).toMatchObject({ kind: 'voted' });
  expect((await waiting()).votes.map(({ by }) => by)).toEqual(['bea']);
  expect(await say(question, 'approve', 'cleo')).toMatchObject({ approval: { decidedBy: 'bea, cleo' } });
  expect((await world.ended(id)).step('approve').output).toMatchObject({ replicas: 2 });
});

test('one rejection is enough, also by who approved before', async () => {
  await make({ pipelines: [TWO] });
  const id = await world.start('p');
  const { id: question } = await waiting();
  await say(question, 'approve', 'ada');
  expect(await say(question, 'reject', 'ada')).toMatchObject({ kind: 'decided', approval: { decidedBy: 'ada' } });
  expect((await world.ended(id)).run.status).toBe('aborted');
});

test('both approve the same values', async () => {
  await make({ pipelines: [TWO] });
  const id = await world.start('p');
  const { id: question } = await waiting();
  await say(question, 'approve', 'ada', { replicas: 3 });
  const other = await say(question, 'approve', 'bea', { replicas: 30 });
  expect(other).toEqual({
    kind: 'invalid',
    problems: [{ loc: ['fields', 'replicas'], msg: 'must be 3, as ada approved' }],
  });
  expect(await say(question, 'approve', 'bea', { replicas: 3 })).toMatchObject({ kind: 'decided' });
  expect((await world.ended(id)).step('approve').output).toMatchObject({ replicas: 3 });
});

test('of sixteen that approve at once two count, and every name once', async () => {
  await make({ pipelines: [TWO] });
  const id = await world.start('p');
  const { id: question } = await waiting();
  const names = Array.from({ length: 16 }, (_, at) => `person-${at % 4}`);
  const kinds = (await Promise.all(names.map((name) => say(question, 'approve', name)))).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'voted')).toHaveLength(1);
  expect(kinds.filter((kind) => kind === 'decided')).toHaveLength(1);
  const { decidedBy } = (await world.approvals.find(question))!;
  expect(new Set(decidedBy?.split(', ')).size).toBe(2);
  await world.ended(id);
  expect(await outcomes()).toHaveLength(2);
});

test('the starter of a run does not approve in it, nor in what it started', async () => {
  const child = `name: child\nstage: production\nsteps:\n${human(', not_the_starter: true')}`;
  const parent = 'name: p\nstage: production\nsteps:\n  - {name: sub, executor: pipeline, pipeline: child}\n';
  await make({ pipelines: [child, parent] });
  const id = await world.start('p');
  await startedBy(id, 'ada');
  const { id: question } = await waiting();
  expect(await say(question, 'approve', 'ada')).toEqual({
    kind: 'forbidden',
    message: 'ada started the run; another person has to approve',
  });
  expect(await say(question, 'approve', 'bea')).toMatchObject({ kind: 'decided' });
  expect((await world.ended(id)).run.status).toBe('completed');
});

test('what the operator asks for holds for calls of tools too', async () => {
  const pipeline = `name: p\nstage: production\nsteps:\n  - {name: fix, executor: gateway, agent: fixer, prompt_template: x, timeout_seconds: 60}\n`;
  const request = { backendRunId: 'g', callId: 'c', agent: 'fixer', server: 's', tool: 't', input: {}, reason: null };
  const rules = { ...ANYBODY, approvers: new Map([['default', [['ada'], ['bea']]]]), required: 2, notTheStarter: true };
  const agents = {
    fixer: async (call) => sure(0.9, { decision: await call.onApproval?.(request) }),
  } satisfies WorldOptions['agents'];
  await make({ pipelines: [pipeline], agents, rules });
  const id = await world.start('p');
  const { id: question } = await waiting();
  expect(await say(question, 'approve', 'dan')).toMatchObject({ kind: 'forbidden' });
  expect(await say(question, 'approve', 'ada')).toMatchObject({ kind: 'voted' });
  expect(await say(question, 'approve', 'bea')).toMatchObject({ kind: 'decided' });
  expect((await world.ended(id)).step('fix').output).toMatchObject({
    decision: { approved: true, decidedBy: 'ada, bea' },
  });
});
