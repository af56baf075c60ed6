import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { ROOT } from '../support/start-service.ts';
import { compileShim, cutPower, type PowerModel, shimEnvironment } from './shim.ts';

const shim = compileShim();
const title = shim.ok ? 'definition files after a power cut' : `definition files (left out: ${shim.reason})`;

/** Runs a program under the library, ends it with SIGKILL, and leaves what was fsynced. */
function powerCutAfter(program: string): (path: string) => string | null {
  if (!shim.ok) throw new Error(shim.reason);
  const scratch = scratchDirectory('signalbox-power-');
  onTestFinished(() => scratch.remove());
  const power: PowerModel = { directory: join(scratch.path, 'data'), shadow: join(scratch.path, 'shadow') };
  mkdirSync(power.directory);
  const text = `import * as fs from 'node:fs/promises';
    const directory = ${JSON.stringify(power.directory)};
    ${program}
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', text], {
    cwd: ROOT,
    env: { ...process.env, ...shimEnvironment(shim.path, { power }) },
    encoding: 'utf8',
  });
  if (child.signal !== 'SIGKILL') throw new Error(child.stderr);
  cutPower(power);
  const at = (path: string) => join(power.directory, path);
  return (path) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : null);
}

/** `handle` of an opened file is changed by the text of a function. */
const apiServer = (changeHandle: string) => `
  const { createDefinitionFiles } = await import('./api-server/src/definitions/definition-files.ts');
  const changeHandle = ${changeHandle};
  const open = async (path, ...more) => changeHandle(await fs.open(path, ...more), path);
  const files = createDefinitionFiles({ ...fs, open });
  const file = directory + '/a.yaml';
  await (await files.stage(file, 'first')).commit();
  await (await files.stage(file, 'second')).commit();
  await (await files.stage(directory + '/gone.yaml', 'x')).commit();
  await files.remove(directory + '/gone.yaml');`;
const WITHOUT_SYNC = 'handle.sync = async () => undefined; return handle;';

describe.runIf(shim.ok)(title, () => {
  test('what the write API answered is there, and what it deleted is not', () => {
    const read = powerCutAfter(apiServer('(handle) => handle'));
    expect([read('a.yaml'), read('gone.yaml')]).toEqual(['second', null]);
  });

  test('one definition that the write API answered is there', () => {
    const read = powerCutAfter(`
      const { definitionFiles } = await import('./api-server/src/definitions/definition-files.ts');
      await (await definitionFiles.stage(directory + '/a.yaml', 'first')).commit();`);
    expect(read('a.yaml')).toBe('first');
  });

  test.each([
    ['of a file', `(handle, path) => { if (path === directory) return handle; ${WITHOUT_SYNC} }`],
    ['of the folder', `(handle, path) => { if (path !== directory) return handle; ${WITHOUT_SYNC} }`],
  ])('a missing fsync %s would be noticed', (_, changeHandle) => {
    const read = powerCutAfter(apiServer(changeHandle));
    expect([read('a.yaml'), read('gone.yaml')]).not.toEqual(['second', null]);
  });

  test('what the controller wrote in front of a service is there, with its manifest', () => {
    const read = powerCutAfter(`
      const { openManagedDirectory } = await import('./controller/src/files/managed-directory.ts');
      const managed = await openManagedDirectory(directory, ['Pipeline', 'Agent']);
      const owner = { kind: 'Pipeline', namespace: 'ns', name: 'a', uid: 'u', generation: 1, hash: 'h' };
      const manifest = { files: { 'pipelines/a.yaml': owner }, objects: [], agents: {} };
      await managed.apply({ files: new Map([['pipelines/a.yaml', { digest: 'd', text: () => 'name: a' }]]), manifest });`);
    expect(read('pipelines/a.yaml')).toBe('name: a');
    expect(read('manifest.json')).toContain('pipelines/a.yaml');
  });
});
