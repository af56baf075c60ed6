import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../store/db/open-database.ts';
import { backup } from './backup.ts';

function site(database: string) {
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-backup-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const config = join(dir, 'config.yaml');
  writeFileSync(
    config,
    `database: {url: "${database}"}\npipeline_config_dir: nowhere\nauth: {tokens: [{name: a, role: admin, token: "\${TOKEN}"}]}\n`,
  );
  let said = '';
  for (const stream of [process.stdout, process.stderr]) {
    const spy = vi.spyOn(stream, 'write').mockImplementation((text) => ((said += String(text)), true));
    onTestFinished(() => spy.mockRestore());
  }
  const file = (name: string) => join(dir, name);
  return { dir, file, run: (to: string) => backup(['--config', config, '--to', to], {}), said: () => said };
}

test('a backup needs none of the secrets and folders of the service', async () => {
  const { file, run, said } = site('sqlite:live.db');
  const database = await openDatabase({ autoMigrate: true, now: () => 1, file: file('live.db') });
  onTestFinished(() => database.close());
  expect(await run(file('copy.db'))).toBe(0);
  expect(said()).toContain('copy.db: ');
});

test.each([
  ['mysql://x', 'copy.db', 'database.url: must be sqlite:PATH or postgres'],
  ['postgres://a@b/c', 'copy.db', 'use pg_dump'],
  ['sqlite:gone.db', 'copy.db', 'gone.db does not exist yet'],
])('%s: one line says why there is no backup', async (url, to, problem) => {
  const { file, run, said } = site(url);
  expect(await run(file(to))).toBe(1);
  expect(said()).toMatch(/^backup: .*\n$/);
  expect(said()).toContain(problem);
});

test('a folder that is not there is named', async () => {
  const { file, run, said } = site('sqlite:live.db');
  const database = await openDatabase({ autoMigrate: true, now: () => 1, file: file('live.db') });
  onTestFinished(() => database.close());
  expect(await run(file('nowhere/copy.db'))).toBe(1);
  expect(said()).toMatch(/^backup: .*nowhere.*\n$/);
});

test('a copy that cannot be finished leaves nothing behind, and one line says why', async () => {
  const { dir, file, run, said } = site('sqlite:live.db');
  writeFileSync(file('live.db'), 'x'.repeat(100_000));
  expect(await run(file('copy.db'))).toBe(1);
  expect(said()).toMatch(/^backup: nothing was copied to .*copy\.db: .*not a database\n$/);
  expect(readdirSync(dir).toSorted()).toEqual(['config.yaml', 'live.db']);
});
