import { expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { startProcess } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { INSPECTED, type MemorySample, openMemoryProbe } from './memory-probe.ts';
import { memoryProblems, memorySentence, trendOf } from './memory-trend.ts';
import { problemsOf, soak, type SoakResult } from './soak-run.ts';

/** Three minutes where the machine has nothing better to do; `soak.ts --minutes 60` is the long one. */
const SECONDS = process.env['CI'] === 'true' || process.env['CI'] === '1' ? 180 : 30;

test('the gateway stays well among servers that do not', async () => {
  using scratch = scratchDirectory('signalbox-soak-');
  const result = await soak(scratch.path, SECONDS, () => {});
  console.log(memorySentence(result.memory));
  expect(problemsOf(result)).toEqual([]);
}, 400_000);

test.each([
  [
    { memory: { held: { before: 43, after: 75, samples: 36 }, highestResident: 300 } },
    'grew from 43.0 MiB to 75.0 MiB',
  ],
  [{ memory: { held: { before: 153, after: 157, samples: 36 }, highestResident: 300 } }, '157.0 MiB were held'],
  [{ memory: { held: null, highestResident: 700 } }, 'the process had 700.0 MiB'],
  [{ orphans: 1 }, 'left behind'],
  [{ goodRestarts: 1 }, 'the good server was restarted'],
  [{ badRestarts: 0 }, 'did not misbehave'],
  [{ runs: { 'good: completed': 5, 'good: timeout': 1 } }, 'ended as timeout'],
  [{ runs: {} }, 'no run of the good server'],
])('it can fail: %o', (change, sentence) => {
  const well: SoakResult = {
    runs: { 'good: completed': 5 },
    memory: { held: { before: 43, after: 47, samples: 36 }, highestResident: 300 },
    goodRestarts: 0,
    badRestarts: 3,
    slowestGood: 100,
    mostProcesses: 20,
    orphans: 0,
  };
  expect(problemsOf(well)).toEqual([]);
  expect(problemsOf({ ...well, ...change }).join()).toContain(sentence);
});

const samples = (held: (turn: number) => number, resident: (turn: number) => number, count = 30): MemorySample[] =>
  Array.from({ length: count }, (_, turn) => ({ held: held(turn), resident: resident(turn) }));

test.each([
  [
    'what the process has from the system wanders',
    samples(
      () => 43,
      (turn) => 160 + (turn > 20 ? 200 : 0),
    ),
    [],
  ],
  [
    'a large answer is on its way in every fourth sample',
    samples(
      (turn) => (turn % 4 ? 43 : 90),
      () => 200,
    ),
    [],
  ],
  [
    'little is held, and then a little more',
    samples(
      (turn) => 8 + turn / 3,
      () => 90,
    ),
    [],
  ],
  [
    'a megabyte more is held each time',
    samples(
      (turn) => 40 + 2 * turn,
      () => 200,
    ),
    ['held memory grew from 70.0 MiB to 90.0 MiB'],
  ],
  [
    'ten megabytes more are held in an hour',
    samples(
      (turn) => 60 + turn / 45,
      () => 200,
      720,
    ),
    ['held memory grew from 68.0 MiB to 73.3 MiB'],
  ],
  [
    'the last answers fill up in the first third of an hour',
    samples(
      (turn) => 40 + Math.min(turn, 240) / 10 + (turn % 3),
      () => 200,
      720,
    ),
    [],
  ],
  [
    'one peak is too high',
    samples(
      () => 43,
      (turn) => (turn === 3 ? 601 : 200),
    ),
    ['the process had 601.0 MiB, more than 600.0 MiB'],
  ],
])('memory: %s', (_, all, sentences) => {
  expect(memoryProblems(trendOf(all))).toEqual(sentences);
});

test('few samples make no trend', () => {
  expect(
    trendOf(
      samples(
        (turn) => turn * 100,
        () => 1,
      ).slice(0, 7),
    ).held,
  ).toBeNull();
});

test('the probe sees what a process holds, and not what it let go', async () => {
  const script = `
    let kept = Buffer.alloc(64 * 1024 * 1024, 1);
    console.log(JSON.stringify({ msg: 'listening', url: 'http://x' }));
    process.on('SIGUSR2', () => { kept = null; console.log('let go'); });
    setInterval(() => {}, 1000);`;
  const service = await startProcess('fake', { command: process.execPath, args: [...INSPECTED, '-e', script] });
  try {
    const probe = await openMemoryProbe(service);
    const full = await probe.sample();
    process.kill(service.pid, 'SIGUSR2');
    await waitFor(() => service.logs.some(({ raw }) => raw === 'let go'), { what: 'the signal' });
    const empty = await probe.sample();
    probe.close();
    expect(full.held).toBeGreaterThan(64);
    expect(empty.held).toBeLessThan(30);
    expect(empty.resident).toBeGreaterThan(empty.held);
  } finally {
    await service.kill();
  }
});
