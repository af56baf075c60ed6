import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DefinitionKind, Problem, Source } from '@signalbox/crds';

/** Larger files are not read; the contract has a lower limit, which reports the position. */
const MAX_READ_BYTES = 1024 * 1024;

export interface Folder {
  sources: Source[];
  problems: Problem[];
}

/** Texts of files with the stat values of their last read, by folder, so that a reload reads only changed files. */
export type KnownTexts = Map<string, ReadonlyMap<string, { edition: string; text: string }>>;

/** A file that changed less than this before the read is read again: its timestamps may not show a further change. */
const SURELY_SETTLED_MS = 2000;

/** The definition files (`.yaml`, `.yml`) directly in a folder, without dot files. Null folder: none. */
export async function readFolder(
  kind: DefinitionKind,
  folder: string | null,
  known: KnownTexts = new Map(),
): Promise<Folder> {
  if (folder === null) return { sources: [], problems: [] };
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter(({ name }) => /^[^.].*\.ya?ml$/.test(name)).map(({ name }) => name);
  const before = known.get(`${kind} ${folder}`);
  const next = new Map<string, { edition: string; text: string }>();
  known.set(`${kind} ${folder}`, next);
  const read = await Promise.all(names.map((name) => readOne(kind, join(folder, name), { before, next })));
  return {
    sources: read.flatMap((one) => ('text' in one ? [one] : [])),
    problems: read.flatMap((one) => ('text' in one ? [] : [one])),
  };
}

interface Editions {
  before: ReadonlyMap<string, { edition: string; text: string }> | undefined;
  next: Map<string, { edition: string; text: string }>;
}

async function readOne(kind: DefinitionKind, file: string, { before, next }: Editions): Promise<Source | Problem> {
  const problem = { severity: 'error' as const, kind, name: null, file, loc: [] };
  try {
    const { size, ino, dev, mtimeMs, ctimeMs } = await stat(file);
    if (size > MAX_READ_BYTES)
      return { ...problem, msg: `is larger than ${MAX_READ_BYTES} bytes`, reason: 'too_large' };
    const edition = [dev, ino, size, mtimeMs, ctimeMs].join(' ');
    const known = before?.get(file);
    const text = known?.edition === edition ? known.text : await readFile(file, 'utf8');
    if (Math.abs(Date.now() - ctimeMs) > SURELY_SETTLED_MS) next.set(file, { edition, text });
    return { file, text };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ...problem, msg: `cannot be read: ${message}`, reason: 'invalid' };
  }
}
