import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  newFolders,
  openDefinitions,
  pipelineUsing,
  pipelineYaml,
  stepYaml,
  type TestFolders,
} from './fixtures/folders.ts';
import { readAll } from './read-all.ts';

let disk: TestFolders;
beforeEach(() => (disk = newFolders()));
afterEach(() => disk.remove());

const loaded = async () => {
  const { registry } = await openDefinitions(disk);
  const names = () => registry.current().pipelines.map(({ name }) => name);
  return { names, reload: () => registry.reload() };
};

test('a managed folder that holds no folder of a kind yet holds nothing of it', async () => {
  rmSync(join(disk.root, 'managed'), { recursive: true });
  mkdirSync(join(disk.root, 'managed'));
  disk.write('pipelines/own.yaml', pipelineYaml('own'));
  const definitions = await loaded();
  expect(definitions.names()).toEqual(['own']);
  mkdirSync(join(disk.root, 'managed/pipelines'));
  disk.write('managed/pipelines/from-git.yaml', pipelineYaml('from-git'));
  await definitions.reload();
  expect(definitions.names()).toEqual(['from-git', 'own']);
});

test('a folder that is gone altogether is a failed load, and what was loaded stays', async () => {
  disk.write('managed/pipelines/from-git.yaml', pipelineYaml('from-git'));
  const definitions = await loaded();
  rmSync(join(disk.root, 'managed'), { recursive: true });
  await expect(definitions.reload()).rejects.toThrow('ENOENT');
  expect(definitions.names()).toEqual(['from-git']);
});

const object = (kind: string, namespace: string, name: string) => ({
  kind,
  namespace,
  name,
  uid: `${kind} ${namespace} ${name}`,
  generation: 1,
  hash: 'h',
});

test('an object of another namespace takes no name of the operator’s files, and its library steps run for nobody else', async () => {
  disk.write('pipelines/restart.yaml', pipelineUsing('restart', 'ask-people'));
  disk.write('steps/ask-people.yaml', stepYaml('ask-people', 'description: of the operator\n'));
  disk.write('managed/steps/ask-people.yaml', stepYaml('ask-people', 'description: of shop\n'));
  disk.write('managed/steps/shop-look.yaml', stepYaml('shop-look'));
  disk.write('managed/pipelines/restart.yaml', pipelineYaml('restart', 'description: of shop\n'));
  disk.write('managed/pipelines/shop-own.yaml', pipelineUsing('shop-own', 'shop-look'));
  disk.write('managed/pipelines/ops-own.yaml', pipelineUsing('ops-own', 'shop-look'));
  const files = {
    'steps/ask-people.yaml': object('LibraryStep', 'shop', 'ask-people'),
    'steps/shop-look.yaml': object('LibraryStep', 'shop', 'shop-look'),
    'pipelines/restart.yaml': object('Pipeline', 'shop', 'restart'),
    'pipelines/shop-own.yaml': object('Pipeline', 'shop', 'shop-own'),
    'pipelines/ops-own.yaml': object('Pipeline', 'ops', 'ops-own'),
  };
  disk.write('managed/manifest.json', JSON.stringify({ namespace: 'ops', files, objects: [], agents: {} }));
  const tenancy = { open: false, library: [], namespaces: { shop: {} }, home: null };
  const { registry } = await openDefinitions(disk, { operator: { tenancy } });
  const { pipelines, byName, stepsByName, problems } = registry.current();
  expect(pipelines.map(({ name }) => name).toSorted()).toEqual(['restart', 'shop-own']);
  expect(stepsByName.get('ask-people')?.config.description).toBe('of the operator');
  expect(byName.get('restart')?.config.description).toBe('');
  expect(problems.map(({ name, reason }) => `${name} ${reason}`).toSorted()).toEqual([
    'ask-people name_conflict',
    'ops-own not_allowed',
    'restart name_conflict',
  ]);
});

test('a file that the controller writes while the folders are read is of its namespace', async () => {
  disk.write('managed/pipelines/restart.yaml', pipelineYaml('restart'));
  const files = { 'pipelines/restart.yaml': object('Pipeline', 'shop', 'restart') };
  const manifest = JSON.stringify({ namespace: 'ops', files, objects: [], agents: {} });
  // Asked for once the files are listed.
  class Known extends Map {
    override get(key: string) {
      disk.write('managed/manifest.json', manifest);
      return super.get(key);
    }
  }
  const managedDir = join(disk.root, 'managed');
  const { home, pipelines } = await readAll({ pipelineDir: null, stepDir: null, managedDir }, new Known());
  expect([home, pipelines[0]?.namespace]).toEqual(['ops', 'shop']);
});

test.each([
  ['does not parse', 'steps: ['],
  ['is refused', 'name: restart\nsteps: none\n'],
])('a file of the operator that %s leaves its name to no object of another namespace', async (_, text) => {
  disk.write('pipelines/restart.yaml', text);
  disk.write('steps/ask-people.yaml', text.replace('restart', 'ask-people'));
  disk.write('managed/pipelines/restart.yaml', pipelineYaml('restart'));
  disk.write('managed/steps/ask-people.yaml', stepYaml('ask-people'));
  const files = {
    'pipelines/restart.yaml': object('Pipeline', 'shop', 'restart'),
    'steps/ask-people.yaml': object('LibraryStep', 'shop', 'ask-people'),
  };
  disk.write('managed/manifest.json', JSON.stringify({ namespace: 'ops', files, objects: [], agents: {} }));
  const tenancy = { open: false, library: [], namespaces: { shop: {} }, home: null };
  const { registry } = await openDefinitions(disk, { operator: { tenancy } });
  const { pipelines, steps, problems } = registry.current();
  expect([...pipelines, ...steps]).toEqual([]);
  expect(problems.filter((problem) => problem.msg.includes('is already defined in'))).toHaveLength(2);
});
