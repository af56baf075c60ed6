import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newFolders, openDefinitions, pipelineYaml, type TestFolders } from './fixtures/folders.ts';

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
