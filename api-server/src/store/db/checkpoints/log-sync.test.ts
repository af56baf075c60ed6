import { fdatasync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLogSync } from './log-sync.ts';

function newLog(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'service.db-wal');
  writeFileSync(path, 'committed');
  return path;
}

test('a sync is done when the disk says so, and not before', async () => {
  const asked: ((error: Error | null) => void)[] = [];
  const log = openLogSync(newLog(), (_, done) => void asked.push(done));
  const seen: string[] = [];
  const synced = log.sync().then(() => seen.push('synced'));
  await Promise.resolve();
  expect(seen).toEqual([]);
  asked[0]?.(null);
  await synced;
  expect(seen).toEqual(['synced']);
  log.close();
});

test('a disk that fails ends the process, because nobody knows what it has', () => {
  let fail: (error: Error) => void = () => undefined;
  const path = newLog();
  const log = openLogSync(path, (_, done) => (fail = done));
  void log.sync();
  expect(() => fail(new Error('EIO'))).toThrow(`${path} could not be synced to the disk`);
  log.close();
});

test('a log that is closed while a sync is under way is synced, and closed after that', async () => {
  const path = newLog();
  const asked: ((error: Error | null) => void)[] = [];
  const log = openLogSync(path, (fd, done) => fdatasync(fd, (error) => void asked.push(() => done(error))));
  const synced = log.sync();
  log.close();
  await expect.poll(() => asked.length).toBe(1);
  asked[0]?.(null);
  await synced;
});
