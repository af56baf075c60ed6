import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backUp } from './backup.ts';
import { addCounters, bumpCounter, readCounters } from './counters.ts';
import { openDatabase } from './open-database.ts';

test('a backup made while the service writes opens as a database of its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-backup-'));
  const options = { autoMigrate: true, now: () => 1 };
  const running = await openDatabase({ file: join(folder, 'a.db'), ...options });
  await running.write((tx) => addCounters(tx, [{ metric: 'm', labels: [], value: 1 }]));
  const copying = backUp(join(folder, 'a.db'), join(folder, 'b.db'), () => undefined);
  await running.write((tx) => addCounters(tx, [{ metric: 'm', labels: [], value: 1 }]));
  expect(await copying).toBeNull();
  const restored = await openDatabase({ file: join(folder, 'b.db'), ...options });
  expect((await readCounters(restored.db))[0]?.value).toBeGreaterThanOrEqual(1);
  await restored.close();
  await running.close();
  rmSync(folder, { recursive: true });
});

test('a backup goes on where something is stored while it copies', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-backup-'));
  const running = await openDatabase({ file: join(folder, 'a.db'), autoMigrate: true, now: () => 1 });
  const large = { metric: 'm', labels: '', value: 1 };
  for (let at = 0; at < 40; at++)
    await running.write((tx) => tx.run(bumpCounter, { ...large, labels: `${at}${'x'.repeat(500_000)}` }));
  const seen: number[] = [];
  const writes: Promise<unknown>[] = [];
  const problem = await backUp(join(folder, 'a.db'), join(folder, 'b.db'), (percent) => {
    seen.push(percent);
    if (seen.length < 20) writes.push(running.write((tx) => addCounters(tx, [{ metric: 'n', labels: [], value: 1 }])));
  });
  await Promise.all(writes);
  expect(problem).toBeNull();
  expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
  await running.close();
  rmSync(folder, { recursive: true });
});
