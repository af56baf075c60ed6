import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runDetail } from '../../store/tables/run-detail.ts';
import { createWorld, hang, sure, type World, type WorldOptions } from '../fixtures/engine.ts';
import type { ActiveRun } from '../state/active-run.ts';
import { childId } from '../state/ids.ts';
import { NO_SPAN, type TraceRun } from '../state/span.ts';
import { addBranches } from '../state/workers.ts';

let world: World;
let held: Promise<void>;
let free: () => void;
afterEach(async () => {
  free();
  vi.useRealTimers();
  await world.close();
});

beforeEach(() => {
  ({ promise: held, resolve: free } = Promise.withResolvers<void>());
});

const agent = (name: string, more = '') =>
  `{name: ${name}, executor: gateway, agent: ${name}, prompt_template: hi${more}}`;
const human = (name: string, more = ', timeout_seconds: 90000') =>
  `{name: ${name}, executor: human, prompt_template: 'Restart?'${more}}`;
const any = (name: string, steps: string[], more = '') =>
  `{name: ${name}, parallel: {join: any_must_pass, steps: [${steps.join(', ')}]}${more}}`;
const named = (name: string, steps: string[], more = '') =>
  `name: ${name}\nstage: production\n${more}steps: [${steps.join(', ')}]`;
/** A run goes on behind a sub-run that failed. */
const P = named('p', ['{name: sub, executor: pipeline, pipeline: below, on_failure: continue}', agent('act')]);

const make = async (below: string, more: Partial<WorldOptions> = {}) => {
  world = await createWorld({ pipelines: [P, below, ...(more.pipelines ?? [])], agents: AGENTS, ...rest(more) });
};
const rest = ({ pipelines: _, ...more }: Partial<WorldOptions>) => more;
const AGENTS = { act: () => sure(0.9), look: () => sure(0.9) };

const listed = async (status?: 'pending') =>
  (await world.approvals.list({ status }, { limit: 9, offset: 0 })).approvals;
const asked = (count = 1) => expect.poll(async () => (await listed('pending')).length).toBe(count);
const stored = async (id: string) => (await runDetail(world.database.db, id, { raw: false }))?.steps ?? [];
const isPassed = () => world.calls.some((call) => call.agent === 'act');

async function decide(decision: 'approve' | 'reject', of: { runId?: string; stepName?: string } = {}) {
  const question = (await listed('pending')).find(
    ({ runId, stepName }) => runId === (of.runId ?? runId) && stepName === (of.stepName ?? stepName),
  );
  const by = { name: 'ann', kind: 'token' as const, role: 'operator', requestId: null };
  const verdict = { decision, fields: {}, comment: null };
  expect(await world.approvals.decide(question?.id ?? '', { verdict, by })).toMatchObject({ kind: 'decided' });
}

/** Another run has the only slot until it is free. */
async function fillSlot(): Promise<void> {
  world.agents['slow'] = () => held.then(() => sure(0.9));
  await world.start('q', {}, 'queued');
  await expect.poll(() => world.calls.some((call) => call.agent === 'slow')).toBe(true);
}

test.each<[string, string[], string, string]>([
  ['a rejection', [human('ask')], 'timeout_seconds: 3\n', 'aborted'],
  ['a rejection in a group', [any('both', [human('ask'), human('other')], ', timeout_seconds: 3')], '', 'aborted'],
  [
    'a question that escalates',
    [human('ask', ', timeout_seconds: 1, on_timeout: escalate')],
    'timeout_seconds: 3\n',
    'escalated',
  ],
])('%s in a sub-run holds though no slot is free until its time is over', async (_, steps, more, status) => {
  await make(named('below', steps, more), { maxRuns: 1, pipelines: [named('q', [agent('slow')])] });
  const id = await world.start('p', {}, 'queued');
  await asked(steps[0]?.includes('other') ? 2 : 1);
  await fillSlot();
  if (status === 'aborted') await decide('reject', { stepName: 'ask' });
  if (steps[0]?.includes('other')) await decide('reject', { stepName: 'other' });
  const run = await world.ended(id);
  expect([run.run.status, run.step('sub').status, run.children[0]?.status]).toEqual([status, status, status]);
  expect(isPassed()).toBe(false);
});

test.each<[string, string]>([
  ['a step', human('ask')],
  ['a branch', any('both', [agent('look'), human('ask')])],
  ['an item', `{name: each, fan_out: {over: '["a"]', step: ${human('ask').replace('name: ask, ', '')}}}`],
])('a rejection of %s holds where the time of its sub-run is over before a restart', async (_, step) => {
  await make(named('below', [step], 'timeout_seconds: 3600\n'));
  const id = await world.start('p');
  await asked();
  await expect
    .poll(async () =>
      (await stored(childId(id, 'sub'))).filter(({ agent: a }) => a).every(({ status }) => status === 'completed'),
    )
    .toBe(true);
  await world.restart();
  await decide('reject');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 7_200_000 });
  await world.engine.resume();
  const run = await world.ended(id);
  expect([run.run.status, run.step('sub').status, run.children[0]?.status]).toEqual(['aborted', 'aborted', 'aborted']);
  expect(isPassed()).toBe(false);
});

const OTHER = named('other', [agent('first'), '{name: sub, executor: pipeline, pipeline: below}']);

/** A sub-run asks, and after a restart that of another run has its place. */
async function losePlace(onLimit: string, decision?: 'reject'): Promise<{ id: string; other: string }> {
  const below = named('below', [human('ask')], `concurrency: {limit: 1, on_limit: ${onLimit}}\n`);
  await make(below, { maxRuns: 1, pipelines: [OTHER], agents: { ...AGENTS, first: hang } });
  const other = await world.start('other');
  await expect.poll(() => world.calls.length).toBe(1);
  const id = await world.start('p');
  await asked();
  await world.restart();
  if (decision) await decide(decision);
  world.agents['first'] = () => sure(0.9);
  await world.engine.resume();
  await asked(decision ? 1 : 2);
  return { id, other };
}

test.each([
  ['reject', 'reject', 'aborted'],
  ['reject', 'approve', 'completed'],
  ['cancel_running', 'reject', 'aborted'],
] as const)(
  'a sub-run that asks people waits for a place that another run has now: %s, %s',
  async (onLimit, decision, status) => {
    const { id, other } = await losePlace(onLimit, decision === 'reject' ? decision : undefined);
    await decide('approve', { runId: childId(other, 'sub') });
    expect((await world.ended(other)).run.status).toBe('completed');
    if (decision === 'approve') await decide('approve');
    expect((await world.ended(id)).run.status).toBe(status);
  },
);

test('a rejection holds where evaluations of its run took too long twice', async () => {
  const slow = (name: string) =>
    agent(name, ", when: 'metadata.list.all(a, metadata.list.all(b, metadata.one <= metadata.two))'");
  await make(named('below', [any('both', [human('ask'), slow('one'), slow('two')])]), { computeTimeoutMs: 200 });
  const list = Array.from({ length: 200 }, (_, index) => index);
  const id = await world.start('p', { metadata: { list, one: 'ž'.repeat(300_000), two: 'ž'.repeat(300_001) } });
  await asked();
  const failed = async () => (await stored(childId(id, 'sub'))).filter(({ status }) => status === 'failed').length;
  await expect.poll(failed, { timeout: 8_000 }).toBe(2);
  await decide('reject');
  expect((await world.ended(id)).run.status).toBe('aborted');
});

test('a rejection holds where its sub-run ends without having read it', async () => {
  const { id } = await losePlace('queue', 'reject');
  await expect.poll(() => world.engine.cancel(childId(id, 'sub'), 'ann')).toBe('cancelled');
  const run = await world.ended(id);
  expect([run.run.status, run.children[0]?.status, isPassed()]).toEqual(['aborted', 'cancelled', false]);
});

test.each([
  ['a rejection', 'aborted'],
  ['an open question', 'escalated'],
])('a run does not go on behind %s of a group that cannot go on after a restart', async (_, status) => {
  let isFull = false;
  const run: TraceRun = (resumed) => {
    if (isFull) addBranches(resumed as ActiveRun, 20_000);
    return NO_SPAN;
  };
  world = await createWorld({
    pipelines: [named('p', [any('both', [human('ask'), agent('look')], ', on_failure: continue'), agent('act')])],
    agents: AGENTS,
    tracing: { run, event: () => undefined },
  });
  const id = await world.start('p');
  await asked();
  await world.restart();
  if (status === 'aborted') await decide('reject');
  isFull = true;
  await world.engine.resume();
  const ended = await world.ended(id);
  expect([ended.run.status, ended.step('both').error?.type, isPassed()]).toEqual([status, 'too_many_branches', false]);
});

test('nobody goes on behind the open question of a sub-run that was cancelled', async () => {
  await make(named('below', [human('ask')]));
  const id = await world.start('p');
  await asked();
  expect(await world.engine.cancel(childId(id, 'sub'), 'ann')).toBe('cancelled');
  const run = await world.ended(id);
  expect([run.run.status, isPassed()]).toEqual(['escalated', false]);
});

test('a step for which nothing is left of the budget asks nobody', async () => {
  const budget = named('p', [agent('look'), human('ask')], 'budget: {max_tokens: 5}\n');
  world = await createWorld({ pipelines: [budget], agents: AGENTS });
  const run = await world.run('p');
  expect([run.run.status, run.step('ask').status]).toEqual(['escalated', 'escalated']);
  expect([await listed(), run.events.includes('approval_requested')]).toEqual([[], false]);
});

test.each(['cancelled', 'failed'])('a question is closed where its run is %s while it is stored', async (status) => {
  let ending: Promise<unknown> | undefined;
  world = await createWorld({
    pipelines: [named('p', [human('ask')])],
    wrap: (database) => ({
      ...database,
      write: async (work) => {
        const result = await database.write(work);
        const [question] = await database.db.selectFrom('approvals').select('run_id').execute();
        if (!question || ending) return result;
        ending = status === 'cancelled' ? world.engine.cancel(question.run_id, 'ann') : Promise.resolve();
        if (status === 'failed') throw new Error('an error of the program');
        return result;
      },
    }),
  });
  const run = await world.run('p');
  await ending;
  expect([run.run.status, (await listed()).map((question) => question.status)]).toEqual([status, ['cancelled']]);
});
