import { expect, test } from 'vitest';
import { calibrate } from './calibration.ts';
import { promptVersions, type PromptUse } from './prompt-versions.ts';
import { unifiedDiff } from './text-diff.ts';

const use = (promptHash: string, firstSeenAt: number, template: string | null): PromptUse => ({
  promptHash,
  template,
  firstSeenAt,
  lastSeenAt: firstSeenAt,
  runsTotal: 1,
  labelledN: 0,
  pipelines: ['checkout'],
});

test('editions come newest first, each with what it changed', () => {
  const versions = promptVersions([use('a', 1, 'Look.\n'), use('c', 3, 'Look well.\n'), use('b', 2, 'Look!\n')], []);
  expect(versions.map(({ promptHash }) => promptHash)).toEqual(['c', 'b', 'a']);
  expect(versions[0]?.diffFromPrevious).toBe('--- b\n+++ c\n@@ -1,1 +1,1 @@\n-Look!\n+Look well.\n');
  expect(versions[2]?.diffFromPrevious).toBeNull();
});

test('there is nothing to compare where a text is not known', () => {
  const versions = promptVersions([use('a', 1, 'x'), use('b', 2, null), use('c', 3, 'y')], []);
  expect(versions.map(({ diffFromPrevious }) => diffFromPrevious)).toEqual([null, null, null]);
});

test('each has the calibration of its own prompt, whatever model answered', () => {
  const row = { agent: 'a', provider: 'p', agentVersion: 'v', confidence: 0.9, label: 1 as const };
  const buckets = calibrate(
    [
      { ...row, model: 'm', promptHash: 'a', n: 2 },
      { ...row, model: 'other', promptHash: 'a', n: 1 },
      { ...row, model: 'm', promptHash: 'b', n: 5 },
    ],
    { nMin: 20, binWidth: 0.1 },
  );
  const [b, a] = promptVersions([use('a', 1, 'x'), use('b', 2, 'y')], buckets);
  expect(b?.calibration.map(({ totalN }) => totalN)).toEqual([5]);
  expect(a?.calibration.map(({ totalN }) => totalN)).toEqual([2, 1]);
});

test('two long texts without a line in common are told as the whole old and the whole new one', () => {
  const text = (word: string) => Array.from({ length: 3_000 }, (_, n) => `${word} ${n}`).join('\n');
  const patch = unifiedDiff({ name: 'a', text: text('old') }, { name: 'b', text: text('new') });
  expect(patch.startsWith('--- a\n+++ b\n@@ -1,3000 +1,3000 @@\n-old 0\n')).toBe(true);
  expect(patch.split('\n').filter((line) => line.startsWith('+new'))).toHaveLength(3_000);
});

test('a prompt is compared with the one before in its own pipeline', () => {
  const inPipeline = (hash: string, at: number, pipelines: string[]) => ({ ...use(hash, at, `${hash}\n`), pipelines });
  const uses = [
    inPipeline('a1', 1, ['a']),
    inPipeline('b1', 2, ['b']),
    inPipeline('a2', 3, ['a']),
    inPipeline('both', 4, ['a', 'b']),
  ];
  const compared = promptVersions(uses, []).map(({ promptHash, diffFromPrevious }) => [
    promptHash,
    /^--- (\S+)/.exec(diffFromPrevious ?? '')?.[1] ?? null,
  ]);
  expect(compared).toEqual([
    ['both', 'a2'],
    ['a2', 'a1'],
    ['b1', null],
    ['a1', null],
  ]);
});

test('the pipelines of an edition are read a few times, however many editions there are', () => {
  let reads = 0;
  const uses = Array.from({ length: 300 }, (_, at) =>
    Object.defineProperty(use(`v${at}`, at, 'x'), 'pipelines', {
      enumerable: true,
      get: () => ((reads += 1), [`pipeline-${at % 100}`]),
    }),
  );
  const versions = promptVersions(uses, []);
  expect(versions.map(({ diffFromPrevious }) => diffFromPrevious).lastIndexOf('--- v99\n+++ v199\n')).toBe(100);
  expect(versions.filter(({ diffFromPrevious }) => diffFromPrevious === null)).toHaveLength(100);
  expect(reads).toBeLessThan(5 * uses.length);
});

test('many versions that have little in common are compared within a time and a size that do not grow with their number', () => {
  const lines = (seed: number) => Array.from({ length: 20_000 }, (_, at) => ((at * at * seed) % 251) % 7).join('\n');
  const uses = Array.from({ length: 40 }, (_, at) => use(`v${at}`, at, lines(at + 2)));
  const before = process.threadCpuUsage();
  const versions = promptVersions(uses, []);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(3000);
  expect(versions[0]?.diffFromPrevious).toContain('@@ -');
  expect(versions[15]?.diffFromPrevious).toContain('@@ -1,20000 +1,20000 @@');
  expect(versions.at(-2)?.diffFromPrevious).toBe('--- v0\n+++ v1\n');
});
