import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from './config.ts';

/** A warning for a folder that artifacts cannot be written to: reported at the start, not with the first artifact. */
export function unwritableFolders({ artifacts }: Pick<Config, 'artifacts'>): string[] {
  const dir = artifacts?.dir ?? null;
  if (dir === null || mayBeWritten(dir)) return [];
  return [`artifacts.dir: ${dir} cannot be written to by this user, so no artifact will be stored`];
}

/** The folder may not exist yet; then the nearest existing parent folder counts. */
function mayBeWritten(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found && dirname(folder) !== folder) return mayBeWritten(dirname(folder));
  if (!found?.isDirectory()) return false;
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
