import { spawnSync } from 'node:child_process';
import { open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { createHash } from 'node:crypto';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@signalbox/crds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDefinitionFiles, type FileSystem } from './definition-files.ts';
import {
  newFolders,
  openDefinitions,
  pipelineUsing,
  pipelineYaml,
  stepYaml,
  type TestFolders,
} from './fixtures/folders.ts';
import type { Writer } from './write.ts';
import type { RecordChange, WriteResult } from './write-result.ts';

let disk: TestFolders;
beforeEach(() => {
  disk = newFolders();
  disk.write('pipelines/there.yaml', pipelineYaml('there'));
  disk.write('steps/inspect.yaml', stepYaml('inspect'));
});
afterEach(() => disk.remove());

const unrecorded: RecordChange = () => Promise.resolve();

const WRITES: [name: string, write: (writer: Writer, record: RecordChange) => Promise<WriteResult>][] = [
  [
    'a new file',
    (writer, record) => writer.create('Pipeline', { yaml: pipelineYaml('fresh'), overwrite: false }, record),
  ],
  [
    'another text',
    (writer, record) =>
      writer.update('Pipeline', { name: 'there', yaml: pipelineYaml('there', 'version: 2\n') }, record),
  ],
  ['a removal', (writer, record) => writer.remove('Pipeline', 'there', record)],
  ['a word', (writer, record) => writer.suspend('there', true, record)],
];

/** The real file system, but for the operation that `fails` says. */
function failing(fails: (operation: string) => boolean): FileSystem {
  const guard =
    <A extends unknown[], R>(operation: string, real: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (fails(operation)) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      return real(...args);
    };
  const opening = guard('open', (...args: Parameters<typeof open>) => open(...args));
  const guarded = {
    readFile: guard('readFile', readFile as never),
    rename: guard('rename', rename),
    stat: guard('stat', stat as never),
    unlink: guard('unlink', unlink),
    open: async (...args: Parameters<typeof open>) => {
      const handle = await opening(...args);
      return {
        writeFile: guard('writeFile', handle.writeFile.bind(handle) as never),
        sync: guard('sync', handle.sync.bind(handle)),
        close: () => handle.close(),
      };
    },
  };
  return guarded as unknown as FileSystem;
}

test.each(WRITES)('%s: whichever operation fails, disk and snapshot are as before', async (_, write) => {
  const before = disk.contents();
  for (let failed = 0; ; failed++) {
    let count = 0;
    let armed = true;
    const files = createDefinitionFiles(failing((operation) => armed && operation !== 'unlink' && count++ === failed));
    const { registry, writer } = await openDefinitions(disk, { files });
    const { hash } = registry.current();
    const outcomes: string[] = [];
    const result = await write(writer, ({ outcome }) => {
      outcomes.push(outcome);
      return Promise.resolve();
    });
    if (result.ok) {
      expect(failed).toBeGreaterThan(1);
      return;
    }
    expect(result.refusal).toMatchObject({ kind: 'unavailable', cause: { code: 'ENOSPC' } });
    expect(disk.contents()).toEqual(before);
    expect(registry.current().hash).toBe(hash);
    if (outcomes.length > 0) expect(outcomes.at(-1)).toBe('failed');
    armed = false;
  }
});

test.each(WRITES)('%s: what cannot be recorded does not happen', async (_, write) => {
  const before = disk.contents();
  const { registry, writer } = await openDefinitions(disk);
  const { hash } = registry.current();
  const refused = new AppError('unavailable', 'the database takes no writes');
  await expect(write(writer, () => Promise.reject(refused))).rejects.toBe(refused);
  expect(disk.contents()).toEqual(before);
  expect(registry.current().hash).toBe(hash);
  expect((await write(writer, unrecorded)).ok).toBe(true);
});

test('a folder that is gone makes a write unavailable and leaves what is served', async () => {
  const { registry, writer } = await openDefinitions(disk);
  disk.remove();
  const write = writer.create('Pipeline', { yaml: pipelineYaml('fresh'), overwrite: false }, unrecorded);
  await expect(write).rejects.toMatchObject({ type: 'unavailable' });
  expect([...registry.current().byName.keys()]).toEqual(['there']);
  disk = newFolders();
});

test('a process that is killed between writing and renaming leaves no half file, and the next start sweeps', async () => {
  const program = `
    import { newFolders } from '${import.meta.dirname}/fixtures/folders.ts';
    import { createDefinitionFiles } from '${import.meta.dirname}/definition-files.ts';
    await createDefinitionFiles().stage('${join(disk.root, 'pipelines/there.yaml')}', 'half');
    process.kill(process.pid, 'SIGKILL');`;
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', program]);
  expect(signal).toBe('SIGKILL');
  const left = Object.keys(disk.contents()).filter((path) => path.endsWith('-tmp'));
  expect(left).toHaveLength(1);
  const { registry } = await openDefinitions(disk);
  expect(registry.current().problems).toEqual([]);
  expect(disk.read('pipelines/there.yaml')).toBe(pipelineYaml('there'));
  expect(Object.keys(disk.contents())).toEqual(['pipelines/there.yaml', 'steps/inspect.yaml']);
});

test("another machine's temporary file is left alone until it is old", async () => {
  const host = createHash('sha256').update(`not ${hostname()}`).digest('hex').slice(0, 8);
  const name = `pipelines/.${host}-0011223344556677.signalbox-tmp`;
  disk.write(name, 'being written');
  const recently = Date.now() / 1000;
  utimesSync(join(disk.root, name), recently, recently);
  await openDefinitions(disk, { now: () => Date.now() });
  expect(disk.contents()).toHaveProperty([name]);
  await openDefinitions(disk, { now: () => Date.now() + 3_600_000 });
  expect(disk.contents()).not.toHaveProperty([name]);
});

test('50 writes and reloads at once leave a set that loads, and the folder as it is served', async () => {
  const { registry, writer } = await openDefinitions(disk);
  const names = Array.from({ length: 50 }, (_, index) => `p${index}`);
  const results = await Promise.all([
    ...names.map((name) =>
      writer.create('Pipeline', { yaml: pipelineUsing(name, 'inspect'), overwrite: false }, unrecorded),
    ),
    ...names
      .slice(0, 10)
      .map(() => writer.update('LibraryStep', { name: 'inspect', yaml: stepYaml('inspect') }, unrecorded)),
    writer.remove('LibraryStep', 'inspect', unrecorded),
    registry.reload(),
  ]);
  const refused = results.filter((result) => 'ok' in result && !result.ok);
  expect(refused).toMatchObject([{ refusal: { kind: 'breaks' } }]);
  const { hash, problems, byName } = registry.current();
  expect(problems).toEqual([]);
  expect(byName.size).toBe(51);
  expect((await registry.reload()).hash).toBe(hash);
  expect(Object.keys(disk.contents()).filter((path) => path.startsWith('pipelines/'))).toHaveLength(51);
});

test('of two creations of one name at once the second is a collision', async () => {
  const { writer } = await openDefinitions(disk);
  const make = () => writer.create('Pipeline', { yaml: pipelineYaml('one'), overwrite: false }, unrecorded);
  const [first, second] = await Promise.all([make(), make()]);
  expect(first).toMatchObject({ ok: true });
  expect(second).toMatchObject({ ok: false, refusal: { kind: 'collision' } });
});

test('more writes than can wait are refused', async () => {
  const { writer } = await openDefinitions(disk);
  const writes = Array.from({ length: 300 }, () => writer.suspend('none', true, unrecorded));
  const settled = await Promise.allSettled(writes);
  const turnedAway = settled.filter(({ status }) => status === 'rejected');
  expect(turnedAway).toHaveLength(44);
  expect(turnedAway[0]).toMatchObject({ reason: { type: 'unavailable' } });
});

test('the mode of a file stays', async () => {
  const { writer } = await openDefinitions(disk);
  const file = join(disk.root, 'pipelines/there.yaml');
  spawnSync('chmod', ['600', file]);
  await writer.suspend('there', true, unrecorded);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});
