import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runDaily, startDaily } from '../../schedules/daily.ts';
import { cleanArtifacts } from './clean.ts';

const NOW = Date.parse('2026-11-21T02:00:00Z');
const DAY = 86_400_000;
const quiet = { info: () => undefined, error: () => undefined };
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'artifacts-'));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(dir, { recursive: true });
});

const folder = (n: number, ageDays: number): string => {
  const name = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  mkdirSync(join(dir, name));
  writeFileSync(join(dir, name, 'text'), 'x');
  const at = new Date(NOW - ageDays * DAY);
  utimesSync(join(dir, name), at, at);
  return name;
};

test('artifact folders older than retention_days go, younger ones and foreign names stay', async () => {
  folder(1, 8);
  const [edge, young] = [folder(2, 6.99), folder(3, 0)];
  mkdirSync(join(dir, 'lost+found'));
  utimesSync(join(dir, 'lost+found'), new Date(0), new Date(0));
  expect(await cleanArtifacts(dir, 7, NOW)).toBe(1);
  expect(readdirSync(dir).toSorted()).toEqual([edge, young, 'lost+found']);
});

test('a folder that does not exist yet is clean', async () => {
  expect(await cleanArtifacts(join(dir, 'none'), 7, NOW)).toBe(0);
});

test('retention runs every day at 02:00', async () => {
  vi.useFakeTimers({ now: new Date(2026, 10, 21, 1, 59, 0) });
  const task = vi.fn<() => Promise<number>>(() => Promise.resolve(0));
  const daily = startDaily({ tasks: new Map([['artifacts', task]]), log: quiet });
  await vi.advanceTimersByTimeAsync(59_000);
  expect(task).toHaveBeenCalledTimes(0);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(task).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(DAY);
  expect(task).toHaveBeenCalledTimes(2);
  daily.stop();
});

test('a task that fails keeps no other from running', async () => {
  const task = vi.fn<() => Promise<number>>(() => Promise.resolve(1));
  const fails = (): Promise<number> => Promise.reject(new Error('disk'));
  await runDaily({
    tasks: new Map([
      ['first', fails],
      ['second', task],
    ]),
    log: quiet,
  });
  expect(task).toHaveBeenCalledTimes(1);
});

test('of a folder with many files few are removed at a time', async () => {
  const name = folder(1, 8);
  for (let file = 0; file < 1_000; file++) writeFileSync(join(dir, name, String(file)), '');
  utimesSync(join(dir, name), 0, 0);
  let most = 0;
  const look = setInterval(() => {
    const asked = process.getActiveResourcesInfo().filter((resource) => resource.startsWith('FSReq'));
    most = Math.max(most, asked.length);
  });
  expect(await cleanArtifacts(dir, 7, NOW)).toBe(1);
  clearInterval(look);
  expect(readdirSync(dir)).toEqual([]);
  expect(most).toBeLessThan(10);
});
