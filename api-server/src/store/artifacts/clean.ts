import { opendir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Removes the artifact folders of runs that are older than `days`; answers how many (Orchestration 8). */
export async function cleanArtifacts(dir: string, days: number, now: number): Promise<number> {
  const oldest = now - days * 86_400_000;
  let removed = 0;
  for (const name of await readdir(dir).catch(() => [])) {
    if (!/^[0-9a-f-]{36}$/.test(name)) continue;
    const folder = join(dir, name);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Infinity }));
    if (mtimeMs >= oldest) continue;
    await removeFolder(folder);
    removed += 1;
  }
  return removed;
}

/** File by file: `rm` begins with all files of a folder at once, in one turn of the event loop. Another process may remove them, too. */
async function removeFolder(folder: string): Promise<void> {
  try {
    for await (const entry of await opendir(folder))
      if (entry.isFile()) await rm(join(folder, entry.name), { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await rm(folder, { recursive: true, force: true });
}
