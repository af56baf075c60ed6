import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { waitFor } from '../support/wait-for.ts';
import { isReady, metricOf, startController } from './controllers.ts';
import { acceptedBody, type Objects } from './objects.ts';
import { type Stack, startStack } from './stack.ts';
import { startVerdicts, type Verdicts } from './verdicts.ts';

const PATIENCE = { timeoutMs: 120_000, everyMs: 100 };
const ASK = { executor: 'gateway', agent: 'sre-triage', prompt_template: 'Look at {{summary}}' };
const steps = [{ name: 'look', ...ASK }];

let stack: Stack;
let objects: Objects;
let verdicts: Verdicts;
beforeAll(async () => {
  stack = await startStack({ between: async (url) => (verdicts = await startVerdicts(url)) });
  objects = stack.objects;
}, 600_000);
afterAll(() => stack?.stop());

const fileOf = (path: string) => join(stack.managed.apiServer, path);
const read = (path: string) => readFileSync(fileOf(path), 'utf8');
const manifestFiles = () =>
  (JSON.parse(read('manifest.json')) as { files: Record<string, { generation: number }> }).files;
const fetchPipeline = (name: string) =>
  call<{ config?: { stage: string } }>(`${stack.apiServer.url}/pipelines/${name}`, { token: stack.tokens.viewer });
const events = async (name: string) => {
  const args = ['get', 'events', '-A', '--field-selector', `involvedObject.name=${name}`, '-o', 'json'];
  const { items } = JSON.parse(await stack.plane.kubectl(args)) as { items: { type: string; reason: string }[] };
  return items.map(({ type, reason }) => `${type} ${reason}`);
};
const inodes = () =>
  readdirSync(stack.managed.apiServer, { recursive: true, encoding: 'utf8' })
    .map((path) => `${path} ${statSync(fileOf(path)).ino}`)
    .toSorted();

test('an applied pipeline becomes Ready, a webhook starts it, and the run is seen on it', async () => {
  await objects.apply('LibraryStep', 'triage', ASK);
  // Watches of two kinds may tell in another order, and then the pipeline would miss its step for a moment.
  await objects.becomes('LibraryStep triage', 'Accepted', 'True Accepted');
  await objects.apply('Pipeline', 'checkout', { stage: 'production', steps: [{ name: 'first', use: 'triage' }] });
  await objects.becomes('Pipeline checkout', 'Ready', 'True Ready');
  const hook = await call<{ run_id?: string }>(`${stack.apiServer.url}/webhook?source=generic`, {
    token: stack.tokens.webhook,
    body: { pipeline: 'checkout', summary: 'the till is slow' },
  });
  expect(hook).toMatchObject({ status: 202, body: { status: 'accepted', run_id: expect.any(String) } });
  const { status } = await waitFor(
    async () => {
      const seen = await objects.get('Pipeline', 'checkout');
      return seen.status?.['lastRun'] ? seen : null;
    },
    { what: 'the run on the object', ...PATIENCE },
  );
  expect(status).toMatchObject({
    observedGeneration: 1,
    contentHash: expect.stringMatching(/^[0-9a-f]{32}$/),
    lastAccepted: { hash: expect.stringMatching(/^[0-9a-f]{32}$/) },
    lastRun: { id: hook.body.run_id },
    replicas: [{ hash: status?.['contentHash'] }],
  });
  expect(acceptedBody(status)).toMatchObject({ name: 'checkout', steps: [{ name: 'first', executor: 'gateway' }] });
  const [, row = ''] = (await stack.plane.kubectl(['get', 'sbp', 'checkout'])).split('\n');
  expect(row.split(/\s{2,}/).slice(1, 4)).toEqual(['production', 'True', 'True']);
  await waitFor(async () => (await events('checkout')).length > 0, { what: 'the event', ...PATIENCE });
  expect(await events('checkout')).toEqual(['Normal Ready']);
});

test('kubectl shows that a pipeline is suspended, and an event which key was edited', async () => {
  const steps = [{ name: 'first', use: 'triage' }];
  await objects.apply('Pipeline', 'paused', { steps });
  await objects.becomes('Pipeline paused', 'Ready', 'True Ready');
  await objects.apply('Pipeline', 'paused', { steps, suspend: true });
  await waitFor(async () => (await events('paused')).includes('Normal Changed'), { what: 'the event', ...PATIENCE });
  const [head = '', row = ''] = (await stack.plane.kubectl(['get', 'sbp', 'paused'])).split('\n');
  expect(row.slice(head.indexOf('SUSPENDED')).trim()).toMatch(/^true\b/);
  expect(await stack.plane.kubectl(['describe', 'sbp', 'paused'])).toContain(
    'a new edition was accepted: suspend changed',
  );
});

test('an agent says its version and the tools that its servers have', async () => {
  const tools = ['machine/read_*'];
  await objects.apply('Agent', 'reader', { model: 'demo/any', soul: 'Read the machine.\n', tools });
  await objects.becomes('Agent reader', 'Ready', 'True Ready');
  const { body } = await call<{ version: string }>(`${stack.gateway.url}/agents/reader`, {
    token: stack.tokens.gateway_invoke,
  });
  const { status } = await waitFor(
    async () => {
      const seen = await objects.get('Agent', 'reader');
      return (seen.status?.['discoveredTools'] as unknown[] | undefined)?.length ? seen : null;
    },
    { what: 'the tools of the agent', ...PATIENCE },
  );
  expect(status?.['agentVersion']).toBe(body.version);
  const found = status?.['discoveredTools'] as { server: string; name: string }[];
  expect(found).toContainEqual({ server: 'machine', name: 'read_load', hash: expect.any(String) });
  expect(found.map(({ name }) => name)).not.toContain('list_processes');
  expect(readFileSync(join(stack.managed.gateway, 'agents/reader/soul.md'), 'utf8')).toBe('Read the machine.\n');
});

test('names of objects are read-only over REST on both services, and the answer names the object', async () => {
  const { url } = stack.apiServer;
  const refused = await call(`${url}/pipelines/checkout`, {
    token: stack.tokens.admin,
    method: 'PUT',
    body: { yaml: 'name: checkout\nsteps: []\n' },
  });
  const owner = { kind: 'Pipeline', namespace: 'default', name: 'checkout' };
  expect(refused).toMatchObject({ status: 409, body: { detail: { type: 'managed', managed_by: owner } } });
  const agent = await call(`${stack.gateway.url}/agents/reader`, {
    token: stack.tokens.gateway_admin,
    method: 'PUT',
    body: { soul_md: 'Write.' },
  });
  const agentOwner = { kind: 'Agent', namespace: 'default', name: 'reader' };
  expect(agent).toMatchObject({ status: 409, body: { detail: { type: 'collision', managed_by: agentOwner } } });
  expect(manifestFiles()['pipelines/checkout.yaml']).toMatchObject({ ...owner, generation: 1 });
});

test('a typo comes back as a condition and an event, and keeps no other object waiting', async () => {
  await objects.apply('Pipeline', 'typo', { stpes: [], steps });
  await objects.apply('Pipeline', 'after', { steps });
  await objects.becomes('Pipeline after', 'Ready', 'True Ready');
  expect((await objects.becomes('Pipeline typo', 'Accepted', 'False Invalid')).message).toContain('stpes');
  await objects.becomes('Pipeline typo', 'Ready', 'False Invalid');
  expect((await fetchPipeline('typo')).status).toBe(404);
  await waitFor(async () => (await events('typo')).includes('Warning Invalid'), { what: 'the event', ...PATIENCE });
  expect(await events('typo')).toEqual(['Warning Invalid']);
});

test('an object that breaks is served as it was accepted last, and its file stays the same file', async () => {
  const before = statSync(fileOf('pipelines/after.yaml')).ino;
  await objects.apply('Pipeline', 'after', { steps: [{ ...steps[0], prompt_template: '{{#if}}' }] });
  const { message } = await objects.becomes('Pipeline after', 'Accepted', 'False Invalid');
  expect(message).toContain('last accepted definition is served meanwhile');
  await objects.becomes('Pipeline after', 'Synced', 'True Synced');
  expect((await fetchPipeline('after')).status).toBe(200);
  expect(statSync(fileOf('pipelines/after.yaml')).ino).toBe(before);
  await objects.apply('Pipeline', 'after', { description: 'healed', steps });
  await objects.becomes('Pipeline after', 'Ready', 'True Ready');
  expect(read('pipelines/after.yaml')).toContain('healed');
});

test('the older of two objects keeps a name', async () => {
  await stack.plane.kubectl(['create', 'namespace', 'other']);
  await objects.apply('Pipeline', 'checkout', { steps }, { namespace: 'other' });
  const { message } = await objects.becomes('Pipeline other/checkout', 'Accepted', 'False NameConflict');
  expect(message).toContain('Pipeline default/checkout');
  expect(read('pipelines/checkout.yaml')).toContain('use: triage');
  await objects.remove('Pipeline', 'checkout', 'other');
});

test('an object over 256 KiB is TooLarge and nothing else is touched', async () => {
  await objects.apply('Pipeline', 'large', { steps, vars: { text: 'x'.repeat(300_000) } });
  await objects.becomes('Pipeline large', 'Accepted', 'False TooLarge');
  expect(existsSync(fileOf('pipelines/large.yaml'))).toBe(false);
  await objects.remove('Pipeline', 'large');
});

test('a step that is deleted while in use leaves its pipelines running', async () => {
  await objects.remove('LibraryStep', 'triage');
  const { message } = await objects.becomes('Pipeline checkout', 'Accepted', 'False MissingStep');
  expect(message).toContain('triage');
  const expanded = () => !read('pipelines/checkout.yaml').includes('use:');
  await waitFor(expanded, { what: 'the pipeline as it was accepted', ...PATIENCE });
  await waitFor(() => !existsSync(fileOf('steps/triage.yaml')), { what: "the step's file to go", ...PATIENCE });
  await objects.becomes('Pipeline checkout', 'Synced', 'True Synced');
  expect((await fetchPipeline('checkout')).status).toBe(200);
  await objects.apply('LibraryStep', 'triage', ASK);
  await objects.becomes('Pipeline checkout', 'Ready', 'True Ready');
  await waitFor(() => !expanded(), { what: 'the pipeline as it is written', ...PATIENCE });
});

test('the gate keeps a pipeline at testing until its verdict was ready once', async () => {
  const gated = { annotations: { 'signalbox.dev/readiness-gate': 'enforce' } };
  const stage = async () => (await fetchPipeline('gated')).body.config?.stage;
  await objects.apply('Pipeline', 'gated', { stage: 'production', steps }, gated);
  const { message } = await objects.becomes('Pipeline gated', 'PromotionReady', 'Unknown NotConfigured');
  expect(message).toContain('keeps the pipeline at stage testing');
  await objects.becomes('Pipeline gated', 'Ready', 'True Ready');
  expect(await stage()).toBe('testing');
  // The printed stage is the one that is served, not the one in spec.
  // Ready is Unknown for a moment where a busy service did not answer in time.
  const row = () => stack.plane.kubectl(['get', 'sbp', 'gated', '--no-headers']);
  await expect.poll(row).toMatch(/^gated +testing +True/);

  verdicts.of.set('gated', 'ready');
  await objects.becomes('Pipeline gated', 'PromotionReady', 'True Ready');
  await waitFor(async () => (await stage()) === 'production', { what: 'the gate to open', ...PATIENCE });
  verdicts.of.set('gated', 'not_ready');
  await objects.becomes('Pipeline gated', 'PromotionReady', 'False NotReady');
  const { status } = await objects.get('Pipeline', 'gated');
  expect([status?.['promoted'], await stage()]).toEqual([true, 'production']);

  await objects.apply('Pipeline', 'gated', { stage: 'testing', steps }, gated);
  await objects.becomes('Pipeline gated', 'Ready', 'True Ready');
  await objects.apply('Pipeline', 'gated', { stage: 'production', steps }, gated);
  await objects.becomes('Pipeline gated', 'Ready', 'True Ready');
  expect(await stage()).toBe('testing');
});

test('the condition RegressionFree says what the last replay of the golden set came to', async () => {
  const watched = { annotations: { 'signalbox.dev/golden-set': 'disk' } };
  await objects.apply('Pipeline', 'watched', { stage: 'testing', steps }, watched);
  await objects.becomes('Pipeline watched', 'RegressionFree', 'Unknown NoGoldenSet');
  verdicts.goldenSets.set('disk', { verdict: 'regressed', reason: '2 of 20 members regressed' });
  const { message } = await objects.becomes('Pipeline watched', 'RegressionFree', 'False Regressed');
  expect(message).toBe('golden set disk: 2 of 20 members regressed');
  verdicts.goldenSets.set('disk', { verdict: 'regression_free', reason: 'no member of 20 regressed' });
  await objects.becomes('Pipeline watched', 'RegressionFree', 'True RegressionFree');
  // Advisory: the object was ready all the time.
  await objects.becomes('Pipeline watched', 'Ready', 'True Ready');
});

test('a restart of sync rewrites nothing, foreign files stay, and what was deleted is gone', async () => {
  writeFileSync(fileOf('pipelines/by-hand.yaml'), 'name: by-hand\n');
  const { metadata } = await objects.get('Pipeline', 'gated');
  const written = () => manifestFiles()['pipelines/gated.yaml']?.generation === metadata.generation;
  await waitFor(written, { what: 'sync to have met the last change', ...PATIENCE });
  await stack.sync.apiServer.stop();
  const before = inodes();
  await objects.remove('Pipeline', 'after');
  stack.sync.apiServer = await startController(stack.args.syncApiServer, stack.accounts.kubeconfig('sync'));
  try {
    await waitFor(() => isReady(stack.sync.apiServer), { what: 'sync to be ready', ...PATIENCE });
    const left = before.filter((entry) => !/^(pipelines\/after|manifest)/.test(entry));
    expect(inodes().filter((entry) => !entry.startsWith('manifest'))).toEqual(left);
    expect(await metricOf(stack.sync.apiServer, 'controller_files_written_total')).toBe(0);
    expect(await metricOf(stack.sync.apiServer, 'controller_files_deleted_total')).toBe(1);
    await waitFor(async () => (await fetchPipeline('after')).status === 404, { what: 'the deletion', ...PATIENCE });
  } finally {
    await stack.sync.apiServer.stop();
  }
});

test('a second manager waits for the Lease, and goes on where the first one ended', async () => {
  const second = await startController(stack.args.manager, stack.accounts.kubeconfig('manager'));
  try {
    await waitFor(() => isReady(second), { what: 'the second manager to be ready', ...PATIENCE });
    const leading = [await metricOf(stack.manager, 'controller_leading'), await metricOf(second, 'controller_leading')];
    expect(leading).toEqual([1, 0]);
    expect(await metricOf(second, 'controller_status_writes_total')).toBe(0);
    await stack.manager.stop();
    await objects.apply('Pipeline', 'successor', { stpes: 1, steps });
    await objects.becomes('Pipeline successor', 'Accepted', 'False Invalid');
    expect(await metricOf(second, 'controller_leading')).toBe(1);
  } finally {
    await second.stop();
  }
});
