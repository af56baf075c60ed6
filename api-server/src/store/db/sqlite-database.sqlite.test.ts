import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openSqlite } from './sqlite-database.ts';
import { bumpCounter } from './counters.ts';
import { newTestDatabase } from '../fixtures/test-database.ts';

test('a second process is refused while the first is there', async () => {
  const site = await newTestDatabase();
  const first = await site.open();
  try {
    await expect(site.open()).rejects.toThrow('is in use by another process');
  } finally {
    await first.close();
    await site.remove();
  }
});

test('a folder that cannot be written to is named with its key', async () => {
  const options = { now: Date.now, autoMigrate: true };
  for (const folder of ['/proc', '/dev/null'])
    await expect(openSqlite({ ...options, file: `${folder}/a.db` })).rejects.toThrow(
      `database.url: ${folder} must be a folder`,
    );
});

test.each([
  ['deleted', 1],
  ['replaced', 1],
  ['replaced while the clock was set back', -1],
])('nothing is written once the file was %s, until it is back', async (how, step) => {
  const site = await newTestDatabase();
  const { file } = site.location as { file: string };
  let now = 0;
  const database = await site.open({ now: () => now });
  const write = () =>
    database
      .write((tx) => tx.run(bumpCounter, { metric: 'm', labels: '[]', value: 1 }))
      .then(
        () => 'stored',
        (error: Error) => error.message,
      );
  try {
    expect([await write(), database.fileInPlace()]).toEqual(['stored', true]);
    renameSync(file, `${file}.aside`);
    if (how !== 'deleted') copyFileSync(`${file}.aside`, file);
    now += 2000 * step;
    expect(database.fileInPlace()).toBe(false);
    expect(await write()).toContain('deleted or replaced');
    expect(database.healthy()).toBe(false);
    rmSync(file, { force: true });
    renameSync(`${file}.aside`, file);
    now += 2000 * step;
    expect([await write(), database.fileInPlace(), database.healthy()]).toEqual(['stored', true, true]);
  } finally {
    await database.close();
    await site.remove();
  }
});
