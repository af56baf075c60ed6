import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DefinitionKind, Problem, Source } from '@signalbox/crds';

/** Files beyond this are not even read; the contract's own bound is lower and names the place. */
const MAX_READ_BYTES = 1024 * 1024;

export interface Folder {
  sources: Source[];
  problems: Problem[];
}

/** The definition files (`.yaml`, `.yml`) directly in a folder; dot files are passed over. Null folder: none. */
export async function readFolder(kind: DefinitionKind, folder: string | null): Promise<Folder> {
  if (folder === null) return { sources: [], problems: [] };
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter(({ name }) => /^[^.].*\.ya?ml$/.test(name)).map(({ name }) => name);
  const read = await Promise.all(names.map((name) => readOne(kind, join(folder, name))));
  return {
    sources: read.flatMap((one) => ('text' in one ? [one] : [])),
    problems: read.flatMap((one) => ('text' in one ? [] : [one])),
  };
}

async function readOne(kind: DefinitionKind, file: string): Promise<Source | Problem> {
  const problem = { severity: 'error' as const, kind, name: null, file, loc: [] };
  try {
    const { size } = await stat(file);
    if (size > MAX_READ_BYTES)
      return { ...problem, msg: `is larger than ${MAX_READ_BYTES} bytes`, reason: 'too_large' };
    return { file, text: await readFile(file, 'utf8') };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ...problem, msg: `cannot be read: ${message}`, reason: 'invalid' };
  }
}
