import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Bounds of what one step may leave. */
export const MAX_ARTIFACTS = 50;
export const MAX_ARTIFACT_BYTES = 5 * 1024 * 1024;

export interface ArtifactStore {
  /** Keeps the texts of one step; what is too large or too many is left out and named. */
  keep(runId: string, stepName: string, texts: Record<string, string>): Promise<{ leftOut: string[] }>;
  /** Null where there is none (any more). */
  read(runId: string, stepName: string, name: string): Promise<Buffer | null>;
}

/** What of a step is kept, and the names of what is too large or too many. */
export function sortOut(texts: Record<string, string>): { kept: [string, string][]; leftOut: string[] } {
  const fits = ([, text]: [string, string], at: number) =>
    at < MAX_ARTIFACTS && Buffer.byteLength(text) <= MAX_ARTIFACT_BYTES;
  const entries = Object.entries(texts);
  return {
    kept: entries.filter(fits),
    leftOut: entries.filter((entry, at) => !fits(entry, at)).map(([name]) => name),
  };
}

/** A folder a run, a file an artifact. File names are hashes: no path is built from what an agent said. */
export function artifactStore(dir: string): ArtifactStore {
  const fileOf = (runId: string, stepName: string, name: string) =>
    join(dir, folderOf(runId), createHash('sha256').update(`${stepName}\0${name}`).digest('hex'));
  return {
    keep: async (runId, stepName, texts) => {
      const { kept, leftOut } = sortOut(texts);
      if (kept.length > 0) await mkdir(join(dir, folderOf(runId)), { recursive: true, mode: 0o700 });
      for (const [name, text] of kept) {
        const file = fileOf(runId, stepName, name);
        await writeFile(`${file}.new`, text, { mode: 0o600 });
        await rename(`${file}.new`, file);
      }
      return { leftOut };
    },
    read: async (runId, stepName, name) => {
      try {
        return await readFile(fileOf(runId, stepName, name));
      } catch {
        return null;
      }
    },
  };
}

/** Run ids are our own UUIDs; anything else is a programming error. */
function folderOf(runId: string): string {
  if (!/^[0-9a-f-]{36}$/.test(runId)) throw new Error('not a run id');
  return runId;
}
