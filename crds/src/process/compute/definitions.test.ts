import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createResolveMemo } from '../../resolve/resolve-memo.ts';
import { resolveSet, resolveSetInTurns } from '../../resolve/resolve-set.ts';
import { workOn } from '../../resolve/work.ts';
import { createCompute, definitionsIn } from './compute.ts';

const compute = createCompute({ timeoutMs: 1000 });
afterAll(() => compute.close());

/** What the thread of this process had to do for it, and the result. */
async function resolved(prompt: string) {
  const steps = Array.from({ length: 3 }, (_, at) => ({
    name: `s${at}`,
    executor: 'gateway',
    agent: 'a',
    prompt_template: prompt,
  }));
  const input = { pipelines: [{ file: 'p.yaml', text: JSON.stringify({ name: 'p', steps }) }], steps: [] };
  const resting = { rest: () => Promise.resolve(), work: definitionsIn(compute, 1000) };
  const before = process.threadCpuUsage();
  const set = await resolveSetInTurns(input, createResolveMemo(), resting);
  const { user, system } = process.threadCpuUsage(before);
  return { set, input, here: (user + system) / 1000 };
}

test('a large definition is read and checked in a thread, with the same result', async () => {
  const { set, input } = await resolved('{{summary}} {{sumary}} '.repeat(500));
  expect(set.pipelines).toHaveLength(1);
  expect(set).toEqual(resolveSet(input));
});

test('one that would take many seconds of the processor is refused, and takes none of this thread', async () => {
  const calls = 5000;
  const { set, here } = await resolved(`{{a ${'(b '.repeat(calls)}${')'.repeat(calls)}}}`);
  expect(set.pipelines).toEqual([]);
  expect(set.problems).toMatchObject([{ severity: 'error', file: 'p.yaml', reason: 'too_large' }]);
  // Where the machine is so busy that the thread gets less than a tenth of a processor, the clock ends it.
  expect(set.problems[0]?.msg).toMatch(/it (takes more than 1000 ms of the processor|took longer than 10000 ms)/);
  expect(here).toBeLessThan(500);
});

test('one that the machine leaves no time for is tried again with the next reload', async () => {
  const busy = createCompute({ timeoutMs: 1000 });
  onTestFinished(() => busy.close());
  const source = { file: 'p.yaml', text: JSON.stringify({ name: 'p', steps: [] }) };
  const task = { kind: 'definition', work: workOn('Pipeline', source, null), maxCpuMs: 0.01 } as const;
  expect(await busy.inThread(task, { run: null, share: 'p' })).toMatchObject({ ok: false, passing: true });
});
