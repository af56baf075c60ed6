import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scratchDirectory } from '../support/scratch.ts';
import { ROOT } from '../support/start-service.ts';

/** The sources of this repository in a folder of their own, with its packages; removed when it is disposed. */
export function copySources(): { path: string } & Disposable {
  const scratch = scratchDirectory('mutants-');
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  for (const file of listed.toString().split('\0').filter(Boolean)) {
    const target = join(scratch.path, file);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(ROOT, file), target, { force: true });
  }
  linkPackages(scratch.path);
  return { path: scratch.path, [Symbol.dispose]: () => scratch.remove() };
}

/** Packages are links to those of the repository; its own workspaces are links into the copy. */
function linkPackages(copy: string): void {
  const packages = join(ROOT, 'node_modules');
  const target = join(copy, 'node_modules');
  mkdirSync(join(target, '@signalbox'), { recursive: true });
  for (const name of readdirSync(packages))
    if (name !== '@signalbox') symlinkSync(join(packages, name), join(target, name));
  for (const name of readdirSync(join(packages, '@signalbox')))
    symlinkSync(readlinkSync(join(packages, '@signalbox', name)), join(target, '@signalbox', name));
  for (const workspace of readdirSync(copy)) {
    const own = join(ROOT, workspace, 'node_modules');
    if (workspace !== 'node_modules' && isFolder(own)) symlinkSync(own, join(copy, workspace, 'node_modules'));
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
