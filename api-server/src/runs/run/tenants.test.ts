import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Tenant } from '@signalbox/crds';
import { monthOf } from '../cost/cost.ts';
import { tokensOf } from '../../store/tables/replicas/tenant-load.ts';
import { createDefinitionBytes } from '../state/definition-bytes.ts';
import { failure } from '../state/executor.ts';
import { createWorld, hang, reply, sure, type World, type WorldOptions } from '../fixtures/engine.ts';

const ADA = { name: 'ada', kind: 'token', role: 'operator', requestId: null } as const;

let base: string;
let server: Server;
beforeAll(async () => {
  server = createServer((_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

async function make(options: WorldOptions): Promise<World> {
  const world = await createWorld(options);
  onTestFinished(() => world.close());
  return world;
}

/** As if an object of this namespace had been written as the definition. */
function give(world: World, name: string, namespace: string, tenant: Tenant | null, admitted = true): void {
  const pipeline = world.pipelines.get(name);
  if (pipeline) world.pipelines.set(name, { ...pipeline, standing: { namespace, admitted, tenant } });
}

const calling = () => `name: p\nsteps: [{name: call, executor: webhook, url: "${base}/"}]\n`;
const errorOf = async (world: World, name: string) => (await world.run(name)).step('call').error?.type ?? null;

test.each<[string, Tenant | null, string[], string | null]>([
  ['the addresses of the service', {}, ['127.0.0.1'], null],
  ['none of its own', { egress_allow: [] }, ['127.0.0.1'], 'egress_refused'],
  ['one of its own', { egress_allow: ['127.0.0.1'] }, [], null],
  ['none without an entry of the service', null, [], 'egress_refused'],
])('a pipeline of a namespace calls %s', async (_what, tenant, egressAllow, error) => {
  const world = await make({
    pipelines: [calling()],
    egressAllow,
    namespaces: tenant === null ? {} : { shop: tenant },
  });
  give(world, 'p', 'shop', tenant);
  expect(await errorOf(world, 'p')).toBe(error);
});

test('a pipeline of a namespace that is not listed, started by hand, calls no private address and no pipeline of others', async () => {
  const sub = 'name: sub\nsteps: [{name: call, executor: pipeline, pipeline: p}]\n';
  const world = await make({ pipelines: [calling(), sub], egressAllow: ['127.0.0.1'] });
  expect(await errorOf(world, 'sub')).toBeNull();
  give(world, 'sub', 'dev', null, false);
  expect(await errorOf(world, 'sub')).toBe('not_allowed');
  give(world, 'p', 'dev', null, false);
  expect(await errorOf(world, 'p')).toBe('egress_refused');
});

test('a run whose pipeline is no longer defined keeps no private address, once there are tenants', async () => {
  for (const [namespaces, error] of [
    [{ shop: {} }, 'egress_refused'],
    [{}, null],
  ] as const) {
    const held = `name: p\nsteps: [{name: ask, executor: human, prompt_template: Go?, timeout_seconds: 900}, {name: call, executor: webhook, url: "${base}/"}]\n`;
    const world = await make({ pipelines: [held], egressAllow: ['127.0.0.1'], namespaces });
    const runId = await world.start('p');
    const pending = { status: 'pending' } as const;
    const question = async () => (await world.approvals.list(pending, { limit: 1, offset: 0 })).approvals[0]?.id;
    await expect.poll(question).toBeDefined();
    world.pipelines.delete('p');
    const verdict = { decision: 'approve' as const, fields: {}, comment: null };
    await world.approvals.decide(String(await question()), { verdict, by: ADA });
    expect((await world.ended(runId)).step('call').error?.type ?? null).toBe(error);
  }
});

test('a run of a namespace that is not listed reaches no private address by removing its pipeline', async () => {
  const held = `name: p\nsteps: [{name: ask, executor: human, prompt_template: Go?, timeout_seconds: 900}, {name: call, executor: webhook, url: "${base}/"}]\n`;
  const world = await make({ pipelines: [held], egressAllow: ['127.0.0.1'] });
  give(world, 'p', 'mallory', null, false);
  const runId = await world.start('p');
  const question = async () =>
    (await world.approvals.list({ status: 'pending' }, { limit: 1, offset: 0 })).approvals[0];
  await expect.poll(question).toBeDefined();
  world.pipelines.delete('p');
  const verdict = { decision: 'approve' as const, fields: {}, comment: null };
  await world.approvals.decide((await question())!.id, { verdict, by: ADA });
  expect((await world.ended(runId)).step('call').error?.type).toBe('egress_refused');
});

test.each<[string, string, Tenant | null, string | null]>([
  ['that of its tenant', 'shop', { egress_allow: [] }, 'egress_refused'],
  ['that of its tenant', 'bank', { egress_allow: ['127.0.0.1'] }, null],
  ['that of the operator', 'ops', null, 'egress_refused'],
])(
  'a run keeps the rights of the namespace it began in, %s, where another one takes the name of its pipeline (%s)',
  async (_, namespace, tenant, error) => {
    const namespaces = { shop: { egress_allow: [] }, bank: { egress_allow: ['127.0.0.1'] } };
    const held = `name: p\nsteps: [{name: ask, executor: human, prompt_template: Go?, timeout_seconds: 900}, {name: call, executor: webhook, url: "${base}/", on_failure: {policy: continue}}, {name: sub, executor: pipeline, pipeline: other}]\n`;
    const other = `name: other\nsteps: [{name: a, executor: webhook, url: "${base}/"}]\n`;
    const world = await make({ pipelines: [held, other], egressAllow: ['127.0.0.1'], namespaces });
    give(world, 'p', namespace, tenant);
    const taker = namespace === 'bank' ? 'shop' : 'bank';
    give(world, 'other', taker, namespaces[taker]);
    const runId = await world.start('p');
    const question = async () =>
      (await world.approvals.list({ status: 'pending' }, { limit: 1, offset: 0 })).approvals[0];
    await expect.poll(question).toBeDefined();
    give(world, 'p', taker, namespaces[taker]);
    await world.restart();
    await world.engine.resume();
    const verdict = { decision: 'approve' as const, fields: {}, comment: null };
    await world.approvals.decide((await question())!.id, { verdict, by: ADA });
    const run = await world.ended(runId);
    expect(run.step('call').error?.type ?? null).toBe(error);
    expect(run.step('sub').error?.type).toBe('not_allowed');
  },
);

test('a run of a tenant starts no pipeline that became another namespace’s after it began', async () => {
  const parent = 'name: parent\nsteps: [{name: call, executor: pipeline, pipeline: child}]\n';
  const child = `name: child\nsteps: [{name: a, executor: webhook, url: "${base}/"}]\n`;
  const world = await make({ pipelines: [parent, child], egressAllow: ['127.0.0.1'], namespaces: { shop: {} } });
  give(world, 'parent', 'shop', {});
  give(world, 'child', 'shop', {});
  expect(await errorOf(world, 'parent')).toBeNull();
  give(world, 'child', 'ops', null);
  expect(await errorOf(world, 'parent')).toBe('not_allowed');
});

test('a sub-run has the team of its own namespace', async () => {
  const parent = 'name: parent\nsteps: [{name: call, executor: pipeline, pipeline: child, context: {team: other}}]\n';
  const child = `name: child\nsteps: [{name: a, executor: webhook, url: "${base}/"}]\n`;
  const world = await make({ pipelines: [parent, child], egressAllow: ['127.0.0.1'] });
  give(world, 'child', 'shop', { team: 'shop-team' });
  await world.run('parent');
  const runs = await world.database.db.selectFrom('runs').select(['pipeline_name', 'team']).execute();
  expect(runs).toContainEqual({ pipeline_name: 'child', team: 'shop-team' });
});

test.each<[string, Tenant | null, string]>([
  ['a tenant without a team keeps the team of its parent', {}, 'payments'],
  ['the operator has the team that the step says', null, 'other'],
])('a sub-run of %s', async (_, tenant, team) => {
  const call = (pipeline: string) =>
    `steps: [{name: call, executor: pipeline, pipeline: ${pipeline}, context: {team: other}}]`;
  const child = `name: child\nsteps: [{name: a, executor: webhook, url: "${base}/"}]\n`;
  const pipelines = [`name: parent\n${call('between')}`, `name: between\n${call('child')}`, child];
  const world = await make({ pipelines, egressAllow: ['127.0.0.1'], namespaces: { shop: {} } });
  for (const name of ['parent', 'between', 'child']) give(world, name, 'shop', tenant);
  await world.run('parent');
  const runs = await world.database.db.selectFrom('runs').select(['pipeline_name', 'team']).execute();
  expect(runs).toContainEqual({ pipeline_name: 'between', team });
  expect(runs).toContainEqual({ pipeline_name: 'child', team });
});

test('the operator says the team of a sub-run of a tenant without one', async () => {
  const parent = 'name: parent\nsteps: [{name: call, executor: pipeline, pipeline: child, context: {team: other}}]\n';
  const child = `name: child\nsteps: [{name: a, executor: webhook, url: "${base}/"}]\n`;
  const world = await make({ pipelines: [parent, child], egressAllow: ['127.0.0.1'], namespaces: { shop: {} } });
  give(world, 'child', 'shop', {});
  await world.run('parent');
  const runs = await world.database.db.selectFrom('runs').select(['pipeline_name', 'team']).execute();
  expect(runs).toContainEqual({ pipeline_name: 'child', team: 'other' });
});

test('tokens of all stages and sub-runs count towards the namespace of their run, across a restart that finds its pipeline renamed', async () => {
  const asking = (name: string, agent: string) =>
    `{name: ${name}, executor: gateway, agent: ${agent}, prompt_template: "Go", on_failure: {policy: continue}}`;
  let answers = false;
  const world = await make({
    agents: {
      a: () => sure(0.9),
      broken: () => ({ ...reply({}), output: null }),
      late: (call) => (answers ? sure(0.9) : hang(call)),
    },
    pipelines: [
      `name: parent\nstage: testing\nsteps: [${asking('one', 'a')}, {name: call, executor: pipeline, pipeline: child}, ${asking('last', 'late')}]\n`,
      `name: child\nsteps: [${asking('two', 'broken')}]\n`,
      `name: own\nsteps: [${asking('one', 'a')}]\n`,
    ],
  });
  const month = monthOf(Date.now());
  const spent = (namespace: string) => world.database.write((tx) => tokensOf(tx, namespace, month));
  give(world, 'parent', 'shop', {});
  give(world, 'child', 'shop', {});
  give(world, 'own', 'ops', null);
  await world.run('own');
  const id = await world.start('parent');
  await expect.poll(() => world.calls.some(({ agent }) => agent === 'late')).toBe(true);
  expect(await spent('shop')).toBe(15 + 15);
  world.pipelines.clear();
  answers = true;
  await world.restart();
  await world.engine.resume();
  await world.ended(id);
  expect(await spent('shop')).toBe(45);
  expect(await spent('ops')).toBe(0);
});

test.each([
  ['the contexts of sub-runs', 'executor: pipeline, pipeline: below, context: {metadata: {more: "{{vars.text}}"}}'],
  [
    'the fields of questions',
    `executor: human, prompt_template: x, timeout_seconds: 1, on_timeout: proceed, fields: [{name: a, options: [${'y'.repeat(30_000)}]}]`,
  ],
])('%s count towards the bytes of a day of a namespace', async (_, step) => {
  const steps = Array.from({ length: 6 }, (_, at) => `  - {name: s${at}, on_failure: continue, ${step}}\n`).join('');
  const world = await make({
    pipelines: [
      `name: p\nvars: {text: ${'x'.repeat(30_000)}}\nsteps:\n${steps}`,
      'name: below\nsteps: [{name: one, executor: gateway, agent: a, prompt_template: x, when: "false"}]\n',
    ],
    namespaces: { shop: { daily_bytes: 100_000 } },
  });
  for (const name of ['p', 'below']) give(world, name, 'shop', {});
  const failed = (await world.run('p')).steps.filter(({ error }) => error?.type === 'daily_bytes');
  expect(failed).toHaveLength(3);
});

test('a run whose definition has no room in the day of its namespace fails, also after a restart', async () => {
  const look = 'name: look\nsteps: [{name: look, executor: gateway, agent: a, prompt_template: x}]\n';
  const world = await make({
    pipelines: [look, look.replaceAll('look', 'other')],
    agents: { a: hang },
    maxRuns: 1,
  });
  give(world, 'look', 'shop', {});
  const full = createDefinitionBytes(() => failure('daily_bytes', 'full'), []);
  world.pipelines.set('look', full.storable(world.pipelines.get('look')!));
  const before = await world.start('other');
  const id = await world.start('look', {}, 'queued');
  await world.restart();
  await world.engine.resume();
  await world.engine.cancel(before, 'ada');
  const { run, steps } = await world.ended(id);
  expect(steps).toEqual([]);
  expect(run).toMatchObject({
    status: 'failed',
    error: { step: null, message: expect.stringContaining('daily_bytes of tenancy.namespaces') },
  });
});
