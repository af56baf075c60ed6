import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { newTestDatabase } from '../fixtures/test-database.ts';
import { backUp } from './backup.ts';
import { bumpCounter } from './counters.ts';

const modesBeside = (file: string) =>
  Object.fromEntries(
    readdirSync(dirname(file))
      .filter((name) => name.startsWith(basename(file)))
      .map((name) => [
        name.slice(basename(file).length),
        (statSync(join(dirname(file), name)).mode & 0o777).toString(8),
      ]),
  );

test('database, lock, log and backups are for their owner only, also where they were not before', async () => {
  const site = await newTestDatabase('empty');
  const { file } = site.location as { file: string };
  const before = process.umask(0);
  try {
    const database = await site.open();
    await database.write((tx) => tx.run(bumpCounter, { metric: 'm', labels: '[]', value: 1 }));
    await backUp(file, `${file}.copy`, () => undefined);
    const modes = modesBeside(file);
    expect(Object.keys(modes)).toEqual(expect.arrayContaining(['', '-shm', '-wal', '.lock', '.copy']));
    expect(Object.keys(modes).filter((name) => name.startsWith('.copy-'))).toEqual([]);
    expect(new Set(Object.values(modes))).toEqual(new Set(['600']));
    await database.close();
    chmodSync(file, 0o644);
    const again = await site.open();
    expect(modesBeside(file)['']).toBe('600');
    await again.close();
    expect(existsSync(file)).toBe(true);
  } finally {
    process.umask(before);
    await site.remove();
  }
});
