import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KEPT_LOG_FILES, MAX_LOG_BYTES, openLogFile } from './log-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'logs-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const line = (text: string) => `${text.padEnd(64 * 1024 - 1, '.')}\n`;

function startOf(name: string): string {
  const file = openSync(join(dir, name), 'r');
  try {
    const bytes = Buffer.alloc(2);
    return bytes.toString('utf8', 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}
const LINES_A_FILE = MAX_LOG_BYTES / (64 * 1024);

test('log files rotate at 10 MB and 5 old ones stay', async () => {
  const file = openLogFile('service.log', dir);
  const files = KEPT_LOG_FILES + 3;
  for (let at = 0; at < files; at++) {
    for (let n = 0; n < LINES_A_FILE; n++) file.write(line(`${at}`));
    // Lines that wait together are written together: the next ones must find a new file.
    await expect.poll(() => [startOf('service.log'), startOf('service.log.1')]).toEqual(['', `${at}.`]);
    expect(statSync(join(dir, 'service.log.1')).size).toBe(MAX_LOG_BYTES);
  }
  file.write('last\n');
  await file.close();
  expect(readdirSync(dir).toSorted()).toEqual(['service.log', ...[1, 2, 3, 4, 5].map((n) => `service.log.${n}`)]);
  expect(readFileSync(join(dir, 'service.log'), 'utf8')).toBe('last\n');
  expect(readFileSync(join(dir, 'service.log.1'), 'utf8')).toMatch(new RegExp(`^${files - 1}\\.`));
  expect(MAX_LOG_BYTES).toBe(10 * 1024 * 1024);
});

test('a restart goes on with the file that is there', async () => {
  for (const word of ['one\n', 'two\n']) {
    const file = openLogFile('service.log', dir);
    file.write(word);
    await file.close();
  }
  expect(readFileSync(join(dir, 'service.log'), 'utf8')).toBe('one\ntwo\n');
});

test('a file that cannot be opened costs its lines and nothing else, and is tried again', async () => {
  let now = 0;
  // A folder in its place: root may write anywhere else.
  mkdirSync(join(dir, 'service.log'));
  writeFileSync(join(dir, 'other'), '');
  const file = openLogFile('service.log', dir, () => now);
  file.write('lost\n');
  rmSync(join(dir, 'service.log'), { recursive: true });
  await expect
    .poll(() => {
      now += 1_000;
      file.write('kept\n');
      return readdirSync(dir).includes('service.log') && readFileSync(join(dir, 'service.log'), 'utf8');
    })
    .toContain('kept\n');
  await file.close();
  file.write('after the end\n');
  expect(readFileSync(join(dir, 'service.log'), 'utf8')).not.toContain('after the end');
});
