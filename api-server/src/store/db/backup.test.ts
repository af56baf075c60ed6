import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backUp } from './backup.ts';
import { addCounters, readCounters } from './counters.ts';
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
