import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** A file that is written and durable beside its place, and not yet in it. */
export interface Staged {
  /** Puts it in place, durably; where that fails everything is as before. */
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/** How definition files change: whole, durable, or not at all (Orchestration 4.5). */
export interface DefinitionFiles {
  stage(file: string, text: string): Promise<Staged>;
  remove(file: string): Promise<void>;
  exists(file: string): Promise<boolean>;
}

const SUFFIX = '.signalbox-tmp';
/** A temporary file of another machine that shares the folder is only old enough to be a leftover after this. */
const FOREIGN_AGE_MS = 10 * 60_000;
const MINE = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const temporaryFor = (file: string) => join(dirname(file), `.${MINE}-${randomBytes(8).toString('hex')}${SUFFIX}`);

export const definitionFiles: DefinitionFiles = {
  exists: async (file) => (await priorOf(file)) !== null,

  stage: async (file, text) => {
    const temporary = temporaryFor(file);
    const prior = await priorOf(file);
    try {
      await writeDurably(temporary, text, prior?.mode);
    } catch (error) {
      await unlinkIfThere(temporary);
      throw error;
    }
    return {
      discard: () => unlinkIfThere(temporary),
      commit: async () => {
        try {
          await rename(temporary, file);
        } catch (error) {
          await unlinkIfThere(temporary);
          throw error;
        }
        await syncOrUndo(file, () => (prior === null ? unlinkIfThere(file) : replace(file, prior)));
      },
    };
  },

  remove: async (file) => {
    const aside = temporaryFor(file);
    await rename(file, aside);
    await syncOrUndo(file, () => rename(aside, file));
    // The file is gone for every reader: a leftover of this name is swept at the next start.
    await unlinkIfThere(aside).catch(() => undefined);
  },
};

interface Prior {
  text: string | null;
  mode: number;
}

/** What stands in a place now: null for nothing, text null for what is no file. */
async function priorOf(file: string): Promise<Prior | null> {
  try {
    const found = await stat(file);
    return { text: found.isFile() ? await readFile(file, 'utf8') : null, mode: found.mode & 0o777 };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function writeDurably(file: string, text: string, mode = 0o644): Promise<void> {
  const handle = await open(file, 'wx', mode);
  try {
    await handle.writeFile(text, 'utf8');
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function replace(file: string, { text, mode }: Prior): Promise<void> {
  const temporary = temporaryFor(file);
  await writeDurably(temporary, text ?? '', mode);
  await rename(temporary, file);
}

async function syncOrUndo(file: string, undo: () => Promise<void>): Promise<void> {
  try {
    const folder = await open(dirname(file), 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    await undo();
    throw error;
  }
}

async function unlinkIfThere(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Removes what a crash between writing and renaming left in a folder; answers how many files that were. */
export async function sweepTemporary(folder: string, now: number): Promise<number> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('.') && name.endsWith(SUFFIX));
  const swept = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, basename(name));
      const mine = name.startsWith(`.${MINE}-`);
      try {
        if (!mine && now - (await stat(file)).mtimeMs < FOREIGN_AGE_MS) return 0;
        await unlinkIfThere(file);
        return 1;
      } catch {
        return 0; // a folder that takes no writes is still read
      }
    }),
  );
  return swept.reduce<number>((sum, one) => sum + one, 0);
}
