import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readOptions, refuseUsage } from '@signalbox/crds/process/command-line';
import { loadDatabase } from '../config/load.ts';
import { backUp } from '../store/db/backup.ts';

const USAGE = `usage: npm run backup -- --config FILE --to FILE [--overwrite]

Copies the embedded database to FILE while the service runs: one consistent state, checked before it gets its name.
To restore, stop the service and put the copy where database.url points, without the -wal and -shm files beside it.
A Postgres database is backed up with pg_dump.
`;

/** Runs the command; resolves to the exit code. */
export async function backup(args: string[], env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const options = {
    config: { type: 'string' },
    to: { type: 'string' },
    overwrite: { type: 'boolean' },
    help: { type: 'boolean' },
  } as const;
  const { values } = readOptions('backup', USAGE, { args, options });
  if (values.help) return say(USAGE, 0);
  if (!values.config) return refuseUsage('backup', '--config FILE is required', USAGE);
  if (!values.to) return refuseUsage('backup', '--to FILE is required', USAGE);
  const loaded = loadDatabase(values.config, env);
  if (!loaded.ok) return say(`backup: ${loaded.message}\n`, 1);
  const { database } = loaded;
  if (!('file' in database)) return say('backup: database.url names a server; use pg_dump\n', 1);
  if (!existsSync(database.file)) return say(`backup: ${database.file} does not exist yet\n`, 1);
  const target = resolve(values.to);
  const refused = refusalOf(target, values.overwrite === true);
  return refused === null ? copy(database.file, target) : say(`backup: ${refused}\n`, 1);
}

function refusalOf(target: string, overwrite: boolean): string | null {
  if (!existsSync(dirname(target))) return `${dirname(target)} is no folder`;
  return existsSync(target) && !overwrite ? `${target} already exists; --overwrite replaces it` : null;
}

async function copy(file: string, target: string): Promise<number> {
  const unfinished = `${target}.unfinished`;
  const showEvery = 10;
  let shown = 0;
  try {
    const problem = await backUp(file, unfinished, (percent) => {
      if (percent < shown + showEvery) return;
      shown = percent;
      process.stderr.write(`${percent}%\n`);
    });
    if (problem !== null) return say(`backup: the copy is damaged: ${problem}\n`, 1);
    renameSync(unfinished, target);
    return say(`${target}: ${(statSync(target).size / 1024 / 1024).toFixed(1)} MiB\n`, 0);
  } catch (error) {
    return say(
      `backup: nothing was copied to ${target}: ${error instanceof Error ? error.message : String(error)}\n`,
      1,
    );
  } finally {
    // A full disk that keeps half a copy takes the service's own writes too, where they share it.
    for (const left of [unfinished, `${unfinished}-journal`]) rmSync(left, { force: true });
  }
}

function say(text: string, code: number): number {
  (code === 0 ? process.stdout : process.stderr).write(text);
  return code;
}
