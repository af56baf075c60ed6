import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { ROOT } from '../support/start-service.ts';
import { compileShim, cutPower, type PowerModel, shimEnvironment } from './shim.ts';

const shim = compileShim();
const title = shim.ok ? 'a new database after a power cut' : `a new database (left out: ${shim.reason})`;

/** Opens a database as the service does, stores one counter, ends with SIGKILL, and answers what was fsynced. */
function countersAfterPowerCut(synchronous: 'FULL' | 'NORMAL'): unknown {
  if (!shim.ok) throw new Error(shim.reason);
  const scratch = scratchDirectory('signalbox-power-');
  onTestFinished(() => scratch.remove());
  const power: PowerModel = { directory: join(scratch.path, 'data'), shadow: join(scratch.path, 'shadow') };
  mkdirSync(power.directory);
  const file = join(power.directory, 'new.db');
  const text = `
    const { openSqlite } = await import('./api-server/src/store/db/sqlite-database.ts');
    const { addCounters } = await import('./api-server/src/store/db/counters.ts');
    const options = { file: ${JSON.stringify(file)}, now: Date.now, autoMigrate: true, synchronous: '${synchronous}' };
    const database = await openSqlite(options);
    await database.write((tx) => addCounters(tx, [{ metric: 'kept', labels: [], value: 7 }]));
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', text], {
    cwd: ROOT,
    env: { ...process.env, ...shimEnvironment(shim.path, { power }) },
    encoding: 'utf8',
  });
  if (child.signal !== 'SIGKILL') throw new Error(child.stderr);
  cutPower(power);
  const db = new DatabaseSync(file);
  try {
    return db
      .prepare('SELECT value FROM counters')
      .all()
      .map((row) => row['value']);
  } catch (error) {
    return (error as Error).message;
  } finally {
    db.close();
  }
}

describe.runIf(shim.ok)(title, () => {
  test('the first write is there, and every migration before it', () => {
    expect(countersAfterPowerCut('FULL')).toEqual([7]);
  });

  test('a first write without an fsync of its own would be noticed', () => {
    expect(countersAfterPowerCut('NORMAL')).not.toEqual([7]);
  });
});
