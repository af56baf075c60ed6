import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type DefinitionKind, SyncManifest } from '@signalbox/crds';
import { digestOf, type FilePlan, type Owners, type WantedFile } from '../plan/file-plan.ts';

export interface Applied {
  written: number;
  deleted: number;
}

/** The directory that the services read. Only files named in its manifest are ever deleted. */
export interface ManagedDirectory {
  owners(): Owners;
  digestAt(path: string): string | null;
  textAt(path: string): string;
  /** Writes and deletes files as planned. After an error the next call continues. */
  apply(plan: FilePlan): Promise<Applied>;
}

type Step = () => void;

const FOLDERS: Readonly<Record<DefinitionKind, string>> = {
  Pipeline: 'pipelines',
  LibraryStep: 'steps',
  Agent: 'agents',
};
/** Files read or written at the same time: most of the time is waiting for the disk. */
const AT_ONCE = 32;
/** What is to be written at the same time is of so many characters, or one file. */
const CHARS_AT_ONCE = 1024 * 1024;
const MANIFEST = 'manifest.json';
const TEMPORARY = /^\.[0-9a-f]{12}\.sync-tmp$/;

/** Opens a directory: makes the folders of the kinds, removes temporary files of a crash and reads the owned files, of which it keeps digests. */
export async function openManagedDirectory(
  root: string,
  kinds: readonly DefinitionKind[],
  /** Called before and after every change on the disk. */
  step: Step = () => undefined,
): Promise<ManagedDirectory> {
  for (const kind of kinds) {
    await mkdir(join(root, FOLDERS[kind]), { recursive: true });
    step();
  }
  await sweep(root, step);
  const manifestText = await readIfThere(join(root, MANIFEST));
  let owners = parseOwners(manifestText);
  let manifest = manifestText ?? '';
  const digests = new Map<string, string>();
  await inBatches(Object.keys(owners), async (path) => {
    const text = await readIfThere(join(root, path));
    if (text !== null) digests.set(path, digestOf(text));
  });

  const writeManifest = async (next: SyncManifest): Promise<void> => {
    const text = `${JSON.stringify(next)}\n`;
    if (text === manifest) return;
    await writeDurably(join(root, MANIFEST), text, step);
    await syncFolder(root, step);
    manifest = text;
    owners = next.files;
  };

  const write = async ({ path, digest, text }: WrittenFile): Promise<void> => {
    const folder = dirname(join(root, path));
    const made = await mkdir(folder, { recursive: true });
    if (made) step();
    await writeDurably(join(root, path), text, step);
    digests.set(path, digest);
    if (made) await syncFolder(dirname(folder), step);
  };

  return {
    owners: () => owners,
    digestAt: (path) => digests.get(path) ?? null,
    textAt: (path) => {
      try {
        return readFileSync(join(root, path), 'utf8');
      } catch (error) {
        unlessMissing(error);
        return '';
      }
    },
    apply: async ({ files, manifest: next }) => {
      const changed = [...files].filter(([path, { digest }]) => digests.get(path) !== digest);
      const extra = Object.keys(owners).filter((path) => !files.has(path));
      // The manifest names a file before it is written and until after it is deleted, so that no crash leaves a file unowned.
      const before = extra.length === 0 ? next : { ...next, files: { ...pick(owners, extra), ...next.files } };
      if (changed.length > 0) await writeManifest(before);
      for (const batch of batchesOf(changed)) await allDone(batch.map(write));
      for (const path of extra) {
        step();
        await removeFile(root, path, step);
        digests.delete(path);
      }
      const touched = new Set([...changed.map(([path]) => path), ...extra].map((path) => dirname(join(root, path))));
      for (const folder of touched) await syncFolder(folder, step);
      if (changed.length === 0 || before !== next) await writeManifest(next);
      return { written: changed.length, deleted: extra.length };
    },
  };
}

/** Throws once the others are done too: after an error nothing goes on beside the next call. */
async function allDone(jobs: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(jobs);
  await Promise.all(jobs);
}

async function inBatches<T>(items: readonly T[], job: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE)
    await Promise.all(items.slice(from, from + AT_ONCE).map(job));
}

interface WrittenFile {
  path: string;
  digest: string;
  text: string;
}

/** Each batch is made once that before is written. */
function* batchesOf(files: readonly [string, WantedFile][]): Generator<WrittenFile[]> {
  let batch: WrittenFile[] = [];
  let chars = 0;
  for (const [path, wanted] of files) {
    const text = wanted.text();
    batch.push({ path, digest: wanted.digest, text });
    chars += text.length;
    if (batch.length < AT_ONCE && chars < CHARS_AT_ONCE) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}

const pick = (owners: Owners, paths: readonly string[]): Owners =>
  Object.fromEntries(paths.flatMap((path) => (owners[path] ? [[path, owners[path]]] : [])));

/** Paths of a manifest count only in the form that is written here, so that a damaged one leads nowhere else. */
const OWN_PATH = /^(?:(?:pipelines|steps)\/[a-zA-Z0-9_-]+\.yaml|agents\/[a-zA-Z0-9_-]+\/(?:agent\.yaml|soul\.md))$/;

function parseOwners(text: string | null): Owners {
  if (text === null) return {};
  try {
    const parsed = SyncManifest.safeParse(JSON.parse(text));
    const files = parsed.success ? parsed.data.files : {};
    return Object.fromEntries(Object.entries(files).filter(([path]) => OWN_PATH.test(path)));
  } catch {
    // A damaged manifest owns nothing: planned files are written, all others stay.
    return {};
  }
}

async function writeDurably(file: string, text: string, step: Step): Promise<void> {
  const temporary = join(dirname(file), `.${randomBytes(6).toString('hex')}.sync-tmp`);
  try {
    step();
    const handle = await open(temporary, 'wx', 0o644);
    try {
      step();
      await handle.writeFile(text, 'utf8');
      step();
      await handle.sync();
    } finally {
      await handle.close();
    }
    step();
    await rename(temporary, file);
    step();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function removeFile(root: string, path: string, step: Step): Promise<void> {
  await unlink(join(root, path)).catch(unlessMissing);
  step();
  const folder = dirname(path);
  // The folder of an agent is removed with its last file, unless it holds a file of others.
  if (!folder.includes('/')) return;
  await rmdir(join(root, folder)).catch(() => undefined);
  step();
}

async function syncFolder(folder: string, step: Step): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    unlessMissing(error);
  }
  step();
}

async function sweep(root: string, step: Step): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of entries.filter((entry) => TEMPORARY.test(entry.name))) {
    step();
    await rm(join(parentPath, name), { force: true });
    step();
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    unlessMissing(error);
    return null;
  }
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}
