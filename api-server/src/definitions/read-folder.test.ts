import { mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type KnownTexts, readFolder } from './read-folder.ts';

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'folder-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const known: KnownTexts = new Map();
const read = async () => (await readFolder('Pipeline', folder, known)).sources.map(({ text }) => text);

test('a text is what the file says, whether it was replaced, edited in place or edited with its times put back', async () => {
  const file = join(folder, 'a.yaml');
  writeFileSync(file, 'one');
  expect(await read()).toEqual(['one']);
  writeFileSync(join(folder, 'new'), 'two');
  renameSync(join(folder, 'new'), file);
  expect(await read()).toEqual(['two']);
  const { atime, mtime } = statSync(file);
  writeFileSync(file, 'six');
  utimesSync(file, atime, mtime);
  expect(await read()).toEqual(['six']);
  rmSync(file);
  expect(await read()).toEqual([]);
});

test('a file that has not changed for a while is not read again', async () => {
  const file = join(folder, 'a.yaml');
  writeFileSync(file, 'as it was');
  await read();
  // What is remembered stands for the file as soon as its times are surely its own.
  const { dev, ino, size, mtimeMs, ctimeMs } = statSync(file);
  const edition = [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  known.set(`Pipeline ${folder}`, new Map([[file, { edition, text: 'remembered' }]]));
  expect(await read()).toEqual(['remembered']);
});
