import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';

/** A temporary file that is written and synced, but not renamed into place yet. */
export interface Staged {
  /** Renames it into place and syncs; on failure the previous state is restored. */
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/** Changes definition files atomically and durably (Orchestration 4.5). */
export interface DefinitionFiles {
  stage(file: string, text: string): Promise<Staged>;
  remove(file: string): Promise<void>;
  exists(file: string): Promise<boolean>;
}

/** The file system calls that are used. */
export interface FileSystem {
  open: typeof open;
  readFile: typeof readFile;
  rename: typeof rename;
  stat: typeof stat;
  unlink: typeof unlink;
}

const SUFFIX = '.signalbox-tmp';
/** A temporary file of another machine that shares the folder counts as a leftover only after this time. */
const FOREIGN_AGE_MS = 10 * 60_000;
const MINE = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const temporaryFor = (file: string) => join(dirname(file), `.${MINE}-${randomBytes(8).toString('hex')}${SUFFIX}`);

export function createDefinitionFiles(fs: FileSystem = { open, readFile, rename, stat, unlink }): DefinitionFiles {
  return {
    exists: async (file) => (await priorOf(fs, file)) !== null,
    stage: async (file, text) => {
      const prior = await priorOf(fs, file);
      const temporary = temporaryFor(file);
      await writeDurably(fs, temporary, { text, mode: prior?.mode ?? 0o644 });
      return {
        discard: () => unlinkIfThere(fs, temporary),
        commit: async () => {
          await orElse(
            () => fs.rename(temporary, file),
            () => unlinkIfThere(fs, temporary),
          );
          await orElse(
            () => syncFolder(fs, file),
            () => (prior === null ? unlinkIfThere(fs, file) : putBack(fs, file, prior)),
          );
        },
      };
    },
    remove: async (file) => {
      const aside = temporaryFor(file);
      await fs.rename(file, aside);
      await orElse(
        () => syncFolder(fs, file),
        () => fs.rename(aside, file),
      );
      // No reader sees this file name; a leftover is removed at the next start.
      await unlinkIfThere(fs, aside).catch(() => undefined);
    },
  };
}

export const definitionFiles = createDefinitionFiles();

/** Runs `job`; on failure runs `undo` and rethrows. */
async function orElse(job: () => Promise<void>, undo: () => Promise<void>): Promise<void> {
  try {
    await job();
  } catch (error) {
    await undo();
    throw error;
  }
}

interface Prior {
  text: string;
  mode: number;
}

/** The current content of a file; null where it does not exist. */
async function priorOf(fs: FileSystem, file: string): Promise<Prior | null> {
  try {
    const found = await fs.stat(file);
    return { text: found.isFile() ? await fs.readFile(file, 'utf8') : '', mode: found.mode & 0o777 };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function writeDurably(fs: FileSystem, file: string, { text, mode }: Prior): Promise<void> {
  const handle = await fs.open(file, 'wx', mode);
  await orElse(
    async () => {
      try {
        await handle.writeFile(text, 'utf8');
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
    () => unlinkIfThere(fs, file),
  );
}

async function putBack(fs: FileSystem, file: string, prior: Prior): Promise<void> {
  const temporary = temporaryFor(file);
  await writeDurably(fs, temporary, prior);
  await fs.rename(temporary, file);
}

async function syncFolder(fs: FileSystem, file: string): Promise<void> {
  const folder = await fs.open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function unlinkIfThere(fs: Pick<FileSystem, 'unlink'>, file: string): Promise<void> {
  try {
    await fs.unlink(file);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Removes temporary files that a crash between write and rename left in a folder. */
export async function sweepTemporary(folder: string, now: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('.') && name.endsWith(SUFFIX));
  await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      try {
        const mine = name.startsWith(`.${MINE}-`);
        if (mine || now - (await stat(file)).mtimeMs > FOREIGN_AGE_MS) await unlink(file);
      } catch {
        // A read-only folder can still be read.
      }
    }),
  );
}
