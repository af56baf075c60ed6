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

/** A folder a run, a file an artifact. File names are hashes: no path is built from what an agent said (Design 9). */
export function artifactStore(dir: string): ArtifactStore {
  const fileOf = (runId: string, stepName: string, name: string) =>
    join(dir, folderOf(runId), createHash('sha256').update(`${stepName}\0${name}`).digest('hex'));
  return {
    keep: async (runId, stepName, texts) => {
      const entries = Object.entries(texts);
      if (entries.length === 0) return { leftOut: [] };
      const fits = (text: string, at: number) => at < MAX_ARTIFACTS && Buffer.byteLength(text) <= MAX_ARTIFACT_BYTES;
      await mkdir(join(dir, folderOf(runId)), { recursive: true });
      for (const [at, [name, text]] of entries.entries()) {
        if (!fits(text, at)) continue;
        const file = fileOf(runId, stepName, name);
        await writeFile(`${file}.new`, text);
        await rename(`${file}.new`, file);
      }
      return { leftOut: entries.filter(([, text], at) => !fits(text, at)).map(([name]) => name) };
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
