import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createResolveMemo } from '../../resolve/resolve-memo.ts';
import { resolveSet, resolveSetInTurns } from '../../resolve/resolve-set.ts';
import { workOn } from '../../resolve/work.ts';
import type { Ahead } from '../../resolve/turns.ts';
import { createCompute, definitionsIn } from './compute.ts';

const compute = createCompute({ timeoutMs: 1000 });
afterAll(() => compute.close());

/** What the thread of this process had to do for it, and the result. */
async function resolved(prompt: string, maxCpuMs = 10_000) {
  const steps = Array.from({ length: 3 }, (_, at) => ({
    name: `s${at}`,
    executor: 'gateway',
    agent: 'a',
    prompt_template: prompt,
  }));
  const input = { pipelines: [{ file: 'p.yaml', text: JSON.stringify({ name: 'p', steps }) }], steps: [] };
  const work = ({ name, work: of }: Ahead) =>
    compute.inThread({ kind: 'definition', work: of, maxCpuMs }, { run: null, share: name });
  const before = process.threadCpuUsage();
  const set = await resolveSetInTurns(input, createResolveMemo(), { rest: () => Promise.resolve(), work });
  const { user, system } = process.threadCpuUsage(before);
  return { set, input, here: (user + system) / 1000 };
}

test('a large definition is read and checked in a thread, with the same result', async () => {
  const { set, input } = await resolved('{{summary}} {{sumary}} '.repeat(500));
  expect(set.pipelines).toHaveLength(1);
  expect(set).toEqual(resolveSet(input));
});

test('one that takes more of the processor than it may is refused, and takes little of this thread', async () => {
  const { set, here } = await resolved('{{a}}'.repeat(12_000), 50);
  expect(set.pipelines).toEqual([]);
  expect(set.problems).toMatchObject([{ severity: 'error', file: 'p.yaml', reason: 'too_large' }]);
  expect(set.problems[0]?.msg).toContain('takes too much to check: it takes more than 50 ms of the processor');
  expect(here).toBeLessThan(500);
});

test('one that the machine leaves no time for is not refused for good', async () => {
  const busy = createCompute({ timeoutMs: 0.1 });
  onTestFinished(() => busy.close());
  const source = { file: 'p.yaml', text: JSON.stringify({ name: 'p', steps: [] }) };
  const done = await definitionsIn(busy, 0.1)({ name: 'p', work: workOn('Pipeline', source, null) });
  expect(done).toMatchObject({ ok: true });
  const task = { kind: 'definition', work: workOn('Pipeline', source, null), maxCpuMs: 0.1 } as const;
  await busy.close();
  const slow = createCompute({ timeoutMs: 0.1 });
  onTestFinished(() => slow.close());
  expect(await slow.inThread(task, { run: null, share: 'p' })).toMatchObject({ ok: false, passing: true });
});
