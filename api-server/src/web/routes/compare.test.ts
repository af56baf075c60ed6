import { afterAll, beforeAll, expect, test } from 'vitest';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { runIdOf } from '../fixtures/store.ts';

let server: TestServer;
const compare = (a: number, b: number, query = '') =>
  server.app.inject({ url: `/runs/${runIdOf(a)}/compare/${runIdOf(b)}${query}`, headers: as('viewer') });
const gate = (trust: number) =>
  JSON.stringify({ signals: [], trust, threshold: 0.75, passed: true, action: 'pass', sentence: 'Passed.' });

beforeAll(async () => {
  server = await startTestServer();
  const { addRun, addStep } = server.store;
  await addRun(1);
  await addStep(runIdOf(1), 'look', { trust_report: gate(0.8), cost: 0.01, output: '{"b":1,"a":{"x":1,"y":2}}' });
  await addStep(runIdOf(1), 'act', { step_index: 1 });
  await addStep(runIdOf(1), 'close', {
    step_index: 3,
    executor: 'webhook',
    prompt_hash: null,
    effective_confidence: null,
  });
  await addRun(2, { rerun_of: runIdOf(1) });
  await addStep(runIdOf(2), 'look', {
    trust_report: gate(0.9),
    cost: 0.03,
    output: '{"a":{"y":2,"x":1},"b":2}',
    prompt_hash: 'p2',
    completed_at: null,
  });
  await addStep(runIdOf(2), 'ask', { step_index: 2, summary: null, output: null });
  await addStep(runIdOf(2), 'close', {
    step_index: 3,
    executor: 'webhook',
    prompt_hash: null,
    summary: null,
    output: null,
  });
  await addRun(3, { pipeline_name: 'disk' });
});
afterAll(() => server.close());

test('two runs are compared step by step, b minus a, and null where one of them has nothing', async () => {
  const { runs, steps } = (await compare(1, 2)).json();
  expect(runs).toMatchObject([{ id: runIdOf(1) }, { id: runIdOf(2) }]);
  expect(steps.map(({ step_name }: { step_name: string }) => step_name)).toEqual(['look', 'act', 'ask', 'close']);
  expect(steps[0]).toMatchObject({
    a: { id: `${runIdOf(1)}/look`, raw_response: { prompt: 'Look' } },
    b: { id: `${runIdOf(2)}/look` },
    same_prompt: false,
    same_agent_version: true,
    trust_delta: 0.1,
    cost_delta: 0.02,
    duration_delta: null,
  });
  expect(steps[1]).toMatchObject({ a: { step_name: 'act' }, b: null, same_prompt: null, output_diff: null });
  expect(steps[2]).toMatchObject({ a: null, b: { step_name: 'ask' }, trust_delta: null, duration_delta: null });
  expect(steps[3]).toMatchObject({ same_prompt: null, output_diff: null, trust_delta: null, duration_delta: 0 });
});

test('the diff of two answers shows what changed and not the order of keys', async () => {
  const [look] = (await compare(1, 2)).json().steps;
  const changed = look.output_diff.split('\n').filter((line: string) => /^[+-](?![+-])/.test(line));
  expect(changed).toEqual(['-  "b": 1,', '+  "b": 2,']);
  const [same] = (await compare(1, 1)).json().steps;
  expect(same).toMatchObject({ output_diff: '', trust_delta: 0, same_prompt: true });
});

test('runs of different pipelines are compared only when forced, and both must exist', async () => {
  const refused = await compare(1, 3);
  expect([refused.statusCode, refused.json().detail.type]).toEqual([409, 'conflict']);
  expect((await compare(1, 3, '?force=false')).statusCode).toBe(409);
  expect((await compare(1, 3, '?force=true')).json().steps).toHaveLength(3);
  expect((await compare(1, 3, '?force=maybe')).statusCode).toBe(400);
  expect((await compare(1, 9)).statusCode).toBe(404);
  expect((await compare(9, 1)).statusCode).toBe(404);
});

test('long and wholly different answers are compared in bounded time', async () => {
  const { addRun, addStep } = server.store;
  for (const n of [4, 5]) {
    await addRun(n);
    const words = (step: number) => Array.from({ length: 20_000 }, (_none, at) => `${n} ${step} ${at}`);
    for (let step = 0; step < 20; step += 1)
      await addStep(runIdOf(n), `s${step}`, { step_index: step, output: JSON.stringify({ words: words(step) }) });
  }
  const { steps } = (await compare(4, 5)).json();
  for (const { output_diff } of steps) {
    expect(output_diff).toContain('… not compared beyond 65536 characters');
    expect(output_diff.length).toBeLessThan(3 * 65_536);
  }
});
