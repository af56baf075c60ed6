import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AgentRegistry, type RegistryOptions } from './registry.ts';

let agentsDir = '';
beforeEach(() => (agentsDir = mkdtempSync(join(tmpdir(), 'agents-'))));
afterEach(() => rmSync(agentsDir, { recursive: true, force: true }));

const known: RegistryOptions['known'] = {
  modelProblem: () => null,
  maxIterations: 20,
  keylessProvider: () => null,
  servers: new Map(),
  modeOf: () => 'process',
};

/** Over the size that is compiled where the agent is read. */
const LARGE = {
  properties: Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`key${at}`, { type: 'string' }])),
};
const agentOf = (name: string, rest: object = {}) => JSON.stringify({ name, model: 'demo/any', ...rest });

function writeAgent(name: string, rest?: object): void {
  mkdirSync(join(agentsDir, name), { recursive: true });
  writeFileSync(join(agentsDir, name, 'agent.yaml'), agentOf(name, rest));
  writeFileSync(join(agentsDir, name, 'soul.md'), 'Be brief.\n');
}

function registryOf(change: Partial<RegistryOptions> = {}) {
  const seen = { rests: 0, judged: [] as string[] };
  const registry = new AgentRegistry({
    agentsDir,
    managedDir: undefined,
    known,
    judge: async (_, agent) => {
      seen.judged.push(agent);
      return { ok: true };
    },
    rest: async () => void seen.rests++,
    ...change,
  });
  return { registry, seen };
}
const names = (registry: AgentRegistry) => registry.list().map(({ name }) => name);

test('other work comes between two agents, and large schemas are judged elsewhere, once for each edition', async () => {
  for (const name of ['a', 'b', 'c']) writeAgent(name, { output_schema: LARGE });
  writeAgent('small', { output_schema: { type: 'object' } });
  const { registry, seen } = registryOf();
  await registry.load();
  expect(seen).toEqual({ rests: 4, judged: ['a', 'b', 'c'] });
  writeAgent('b', { output_schema: LARGE, description: 'new' });
  await registry.load();
  expect(seen.judged).toEqual(['a', 'b', 'c', 'b']);
});

test('a small schema that may take long to compile is judged elsewhere too', async () => {
  writeAgent('a', { output_schema: { items: { $ref: '#/$defs/t' }, $defs: { t: { type: 'string' } } } });
  writeAgent('b', { output_schema: { type: 'string', pattern: '[a-z]{900}[0-9]{200}' } });
  const { registry, seen } = registryOf();
  await registry.load();
  expect(seen.judged).toEqual(['a', 'b']);
});

test('a schema that is refused there keeps its agent out', async () => {
  writeAgent('a', { output_schema: LARGE });
  const { registry } = registryOf({ judge: async () => ({ ok: false, msg: 'is not liked there' }) });
  expect((await registry.load()).errors).toMatchObject([{ agent: 'a', message: 'is not liked there' }]);
  expect(names(registry)).toEqual([]);
});

test('until a load is complete readers see what was there before, and a write waits for it', async () => {
  for (const name of ['a', 'b']) writeAgent(name);
  const gate = Promise.withResolvers<void>();
  let isOpen = true;
  const { registry } = registryOf({ rest: () => (isOpen ? Promise.resolve() : gate.promise) });
  await registry.load();
  for (const name of ['a', 'b']) writeAgent(name, { description: 'new' });
  isOpen = false;
  const loading = registry.load();
  const writing = registry.create('c', { agentYaml: agentOf('c'), soul: '' }, false);
  const removing = registry.remove('b');
  await new Promise(setImmediate);
  expect(registry.list().map(({ name, config }) => [name, config.description])).toEqual([
    ['a', ''],
    ['b', ''],
  ]);
  isOpen = true;
  gate.resolve();
  expect((await loading).agents.map(({ config }) => config.description)).toEqual(['new', 'new']);
  expect(await writing).toMatchObject({ ok: true, changed: true });
  expect(await removing).toMatchObject({ ok: true });
  expect(names(registry)).toEqual(['a', 'c']);
});

test('a load that failed does not keep the next one from being made', async () => {
  writeAgent('a');
  let fails = true;
  const { registry } = registryOf({ rest: () => (fails ? Promise.reject(new Error('stopped')) : Promise.resolve()) });
  await expect(registry.load()).rejects.toThrow('stopped');
  fails = false;
  await registry.load();
  expect(names(registry)).toEqual(['a']);
});

test('changes that wait have a limit, behind which the next one is taken again', async () => {
  const gate = Promise.withResolvers<void>();
  writeAgent('a');
  const { registry } = registryOf({ rest: () => gate.promise });
  const waiting = Array.from({ length: 256 }, () => registry.load());
  await expect(registry.remove('a')).rejects.toMatchObject({ type: 'unavailable' });
  gate.resolve();
  await Promise.all(waiting);
  expect(await registry.remove('a')).toMatchObject({ ok: true });
});

const NAMES = ['own', 'both', 'theirs'];
function writeManaged(owners: Record<string, string>, home = 'ops'): string {
  const managedDir = join(agentsDir, '.managed');
  const files = Object.entries(owners).map(([name, namespace]) => {
    mkdirSync(join(managedDir, 'agents', name), { recursive: true });
    writeFileSync(join(managedDir, 'agents', name, 'agent.yaml'), agentOf(name, { description: namespace }));
    writeFileSync(join(managedDir, 'agents', name, 'soul.md'), 'Be brief.\n');
    const owner = { kind: 'Agent', namespace, name, uid: name, generation: 1, hash: 'h' };
    return [`agents/${name}/agent.yaml`, owner];
  });
  const manifest = { namespace: home, files: Object.fromEntries(files), objects: [], agents: {} };
  writeFileSync(join(managedDir, 'manifest.json'), JSON.stringify(manifest));
  return managedDir;
}

test('an object of another namespace does not take the name of an agent of the operator, one of the release does', async () => {
  for (const name of ['own', 'both']) writeAgent(name, { description: 'file' });
  const { registry } = registryOf({ managedDir: writeManaged({ own: 'shop', both: 'ops', theirs: 'shop' }) });
  const { errors } = await registry.load();
  expect(NAMES.map((name) => registry.get(name)?.config.description)).toEqual(['file', 'ops', 'shop']);
  expect(errors.map(({ agent, message }) => [agent, message])).toEqual([
    ['both', 'the name belongs to a managed agent, which is used instead'],
    ['own', 'the name belongs to an agent of the operator, which is used instead'],
  ]);
  expect(await registry.update('own', { soul: 'Be long.\n' })).toMatchObject({ ok: true });
  for (const name of ['both', 'theirs'])
    expect(await registry.remove(name)).toMatchObject({ ok: false, reason: 'managed' });
});

test('a broken agent does not keep the last good version of one of another namespace that had its name', async () => {
  const managedDir = writeManaged({ theirs: 'shop' });
  const { registry } = registryOf({ managedDir });
  await registry.load();
  writeManaged({ theirs: 'bank' });
  writeFileSync(join(managedDir, 'agents/theirs/agent.yaml'), 'nonsense: true');
  await registry.load();
  expect(registry.get('theirs')).toBeUndefined();
});

test('an agent of the operator that broke leaves its name to nobody', async () => {
  writeAgent('own', { nonsense: true });
  const { registry } = registryOf({ managedDir: writeManaged({ own: 'shop' }) });
  await registry.load();
  expect(registry.get('own')).toBeUndefined();
  expect(await registry.update('own', { agentYaml: agentOf('own') })).toMatchObject({ ok: true });
});
