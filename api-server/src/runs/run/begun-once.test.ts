import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { runDetail } from '../../store/tables/run-detail.ts';
import { createWorld, sure, type World } from '../fixtures/engine.ts';

let world: World;
afterEach(async () => {
  vi.useRealTimers();
  await world.close();
});

const pipeline = (...steps: string[]) => `name: p\nstage: production\nsteps: [${steps.join(', ')}]`;
const agent = (name: string, more = '') =>
  `{name: ${name}, executor: gateway, agent: ${name}, prompt_template: hi${more}}`;
const human = (name: string, more = '') =>
  `{name: ${name}, executor: human, prompt_template: 'Restart?', timeout_seconds: 90000${more}}`;
const parallel = (name: string, steps: string[], more = '') =>
  `{name: ${name}, parallel: {steps: [${steps.join(', ')}]}${more}}`;

const pending = async () => (await world.approvals.list({ status: 'pending' }, { limit: 9, offset: 0 })).approvals;

async function decide(stepName: string, decision: 'approve' | 'reject') {
  const asked = (await pending()).find((approval) => approval.stepName === stepName);
  const by = { name: 'ann', kind: 'token' as const, role: 'operator', requestId: null };
  const verdict = { decision, fields: {}, comment: null };
  expect(await world.approvals.decide(asked?.id ?? '', { verdict, by })).toMatchObject({ kind: 'decided' });
}

const AGENTS = {
  triage: () => sure(0.9, { next_step_context: 'risky' }),
  enrich: () => sure(0.9, { next_step_context: 'fine' }),
  act: () => sure(0.9),
};
const RISKY = `, when: 'context == "risky"'`;
const TODAY = `, when: 'now < "${new Date(Date.now() + 3_600_000).toISOString()}"'`;
const LOOP = `, fan_out: {over: '["a"]', step: {executor: human, prompt_template: 'Restart?', timeout_seconds: 90000`;

test.each<[string, string[], string, string[]]>([
  ['a branch', [parallel('both', [human('ask', RISKY), agent('enrich')])], 'ask', ['ask', 'both']],
  ['a step', [human('ask', TODAY)], 'ask', ['ask']],
  ['a group', [parallel('both', [human('ask'), agent('enrich')], TODAY)], 'ask', ['ask', 'both']],
  ['a fan-out', [`{name: each${LOOP}}}${TODAY}}`], 'each/0', ['each', 'each/0']],
  ['an item', [`{name: each${LOOP}${TODAY}}}}`], 'each/0', ['each', 'each/0']],
])('%s that waits for people is not left out after a restart', async (_, steps, asked, aborted) => {
  world = await createWorld({ pipelines: [pipeline(agent('triage'), ...steps, agent('act'))], agents: AGENTS });
  const id = await world.start('p');
  const calls = steps[0]?.includes('enrich') ? 2 : 1;
  await expect.poll(async () => [(await pending()).length, world.calls.length]).toEqual([1, calls]);
  // The end of the other branch is stored.
  await expect.poll(async () => (await ended(id)).length).toBe(calls);
  await world.restart();
  await decide(asked, 'reject');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 7_200_000 });
  await world.engine.resume();
  const run = await world.ended(id);
  expect(run.run.status).toBe('aborted');
  expect(aborted.map((name) => run.step(name).status)).toEqual(aborted.map(() => 'aborted'));
  expect(world.calls.map((call) => call.agent)).not.toContain('act');
});

test.each(['before the restart', 'after it'])(
  'a sub-run that asks people goes on where its context cannot be made again: a rejection %s holds',
  async (when) => {
    const call =
      "{name: sub, executor: pipeline, pipeline: below, context: {team: '{{context}}'}, on_failure: continue}";
    world = await createWorld({
      pipelines: [
        pipeline(agent('triage'), parallel('both', [call, agent('enrich')]), agent('act')),
        pipeline(human('ask')).replace('name: p', 'name: below'),
      ],
      agents: { ...AGENTS, enrich: () => sure(0.9, { next_step_context: 'longer than a team '.repeat(9) }) },
    });
    const id = await world.start('p');
    await expect.poll(async () => [(await pending()).length, (await ended(id)).length]).toEqual([1, 2]);
    await world.restart();
    if (when === 'before the restart') await decide('ask', 'reject');
    await world.engine.resume();
    if (when === 'after it') await decide('ask', 'reject');
    const run = await world.ended(id);
    expect([run.run.status, run.step('sub').status, run.children[0]?.team]).toEqual(['aborted', 'aborted', 'risky']);
  },
);

const stored = async (id: string) => (await runDetail(world.database.db, id, { raw: false }))?.steps ?? [];
const ended = async (id: string) => (await stored(id)).filter(({ status }) => status !== 'running');

test.each([
  ['a step', (more: string) => human('ask', more)],
  ['a group', (more: string) => parallel('both', [human('ask')], more)],
  ['a fan-out', (more: string) => `{name: each${LOOP}}}${more}}`],
])('%s whose condition is wrong is stored with its end, and never as one that has begun', async (_, step) => {
  const called = Promise.withResolvers<void>();
  const told = Promise.withResolvers<void>();
  const server = createServer((_request, reply) => {
    called.resolve();
    void told.promise.then(() => reply.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const wrong = `, when: 'summary > 3', on_failure: {policy: continue, webhook: {url: '${url}'}}`;
  world = await createWorld({
    pipelines: [pipeline(agent('triage'), step(wrong), agent('act'))],
    agents: AGENTS,
    egressAllow: ['127.0.0.1'],
  });
  const id = await world.start('p');
  await called.promise;
  expect((await stored(id)).map(({ stepName }) => stepName)).toEqual(['triage']);
  told.resolve();
  const run = await world.ended(id);
  server.close();
  expect(run.steps.map(({ status }) => status)).toEqual(['completed', 'failed', 'completed']);
});
