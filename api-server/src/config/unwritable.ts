import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from './config.ts';

/** A line where what agents leave could not be kept: known at the start, not when the first step has something to leave. */
export function unwritableFolders({ artifacts }: Pick<Config, 'artifacts'>): string[] {
  const dir = artifacts?.dir ?? null;
  if (dir === null || mayBeWritten(dir)) return [];
  return [`artifacts.dir: ${dir} cannot be written to by this user, so no artifact will be kept`];
}

/** What is not there yet is made in the nearest folder that is. */
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
