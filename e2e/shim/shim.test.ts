import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compileShim, cutPower, shimEnvironment, type PowerModel, type ShimOptions } from './shim.ts';

const shim = compileShim();
const title = shim.ok ? 'the fsync shim' : `the fsync shim (left out: ${shim.reason})`;

describe.runIf(shim.ok)(title, () => {
  let root: string;
  let power: PowerModel;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'signalbox-shim-'));
    power = { directory: join(root, 'data'), shadow: join(root, 'shadow') };
    mkdirSync(power.directory);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  /** Runs a program that ends itself with SIGKILL, so that nothing is flushed by an orderly exit. */
  function runAndKill(program: string, options: ShimOptions = { power }): string {
    if (!shim.ok) throw new Error(shim.reason);
    const text = `import { DatabaseSync } from 'node:sqlite'; import fs from 'node:fs';
      const directory = ${JSON.stringify(power.directory)};
      ${program}
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', text], {
      env: { ...process.env, ...shimEnvironment(shim.path, options) },
      encoding: 'utf8',
    });
    if (child.signal !== 'SIGKILL') throw new Error(child.stderr);
    return child.stdout;
  }

  const insertRows = (synchronous: string): string => `
    const db = new DatabaseSync(directory + '/rows.db');
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS rows (n INTEGER); PRAGMA synchronous = ${synchronous}');
    for (let n = 0; n < 100; n++) db.prepare('INSERT INTO rows VALUES (?)').run(n);`;

  function countRows(): number {
    const db = new DatabaseSync(join(power.directory, 'rows.db'));
    try {
      return Number(db.prepare('SELECT count(*) AS n FROM rows').get()?.['n']);
    } finally {
      db.close();
    }
  }

  test('a kill alone loses no row, whatever synchronous says', () => {
    runAndKill(insertRows('OFF'));
    expect(countRows()).toBe(100);
  });

  test('a power cut loses no row that synchronous=FULL committed', () => {
    runAndKill(insertRows('FULL'));
    cutPower(power);
    expect(countRows()).toBe(100);
  });

  test('a power cut loses the rows that synchronous=NORMAL left in the write-ahead log', () => {
    runAndKill(insertRows('NORMAL'));
    cutPower(power);
    expect(countRows()).toBe(0);
  });

  test('rows survive a second power cut after a restart', () => {
    runAndKill(insertRows('FULL'));
    cutPower(power);
    runAndKill(insertRows('FULL'));
    cutPower(power);
    expect(countRows()).toBe(200);
  });

  test('a new name, a rename and a removal last from the fsync of the directory on', () => {
    runAndKill(`
      const put = (name, text) => { const fd = fs.openSync(directory + '/' + name, 'w'); fs.writeSync(fd, text); fs.fsyncSync(fd); fs.closeSync(fd); };
      const syncDirectory = () => { const fd = fs.openSync(directory, 'r'); fs.fsyncSync(fd); fs.closeSync(fd); };
      put('kept', 'one'); put('removed', 'two'); syncDirectory();
      put('kept.new', 'three'); fs.renameSync(directory + '/kept.new', directory + '/kept');
      fs.unlinkSync(directory + '/removed');
      put('unnamed', 'four');`);
    cutPower(power);
    expect(readFileSync(join(power.directory, 'kept'), 'utf8')).toBe('one');
    expect(readFileSync(join(power.directory, 'removed'), 'utf8')).toBe('two');
    expect(existsSync(join(power.directory, 'unnamed'))).toBe(false);
  });

  test('bytes written after the last fsync are gone, bytes before it stay', () => {
    runAndKill(`
      const fd = fs.openSync(directory + '/log', 'a'); fs.writeSync(fd, 'first'); fs.fsyncSync(fd);
      const dir = fs.openSync(directory, 'r'); fs.fsyncSync(dir);
      fs.writeSync(fd, ' second');`);
    cutPower(power);
    expect(readFileSync(join(power.directory, 'log'), 'utf8')).toBe('first');
  });

  test('every fsync takes the added time', () => {
    const milliseconds = Number(
      runAndKill(
        `const fd = fs.openSync(directory + '/log', 'w'); const start = performance.now();
         for (let n = 0; n < 10; n++) fs.fsyncSync(fd);
         fs.writeSync(1, String(performance.now() - start));`,
        { fsyncDelayMicroseconds: 5000 },
      ),
    );
    expect(milliseconds).toBeGreaterThanOrEqual(50);
  });
});
