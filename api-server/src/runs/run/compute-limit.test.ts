import { afterEach, expect, test } from 'vitest';
import { createWorld, type World } from '../fixtures/engine.ts';

let world: World;
afterEach(() => world.close());

/** Each of its 40,000 steps reads both texts: only time bounds it. */
const SLOW = 'metadata.list.all(a, metadata.list.all(b, metadata.one <= metadata.two))';
const METADATA = {
  list: Array.from({ length: 200 }, (_, index) => index),
  one: 'ž'.repeat(300_000),
  two: 'ž'.repeat(300_001),
};
const slowStep = (name: string, policy: string) =>
  `{name: ${name}, executor: gateway, agent: a, when: '${SLOW}', prompt_template: hi, on_failure: ${policy}}`;
const agents = { a: () => ({ confidence: 1, summary: 'ok' }) };

test('a step whose condition takes too long fails, and the run with it', async () => {
  const pipelines = [`name: p\nstage: production\nsteps: [${slowStep('one', 'abort')}]`];
  world = await createWorld({ pipelines, agents, computeTimeoutMs: 300 });
  const run = await world.run('p', { metadata: METADATA });
  expect(run.run.status).toBe('failed');
  expect(run.step('one').error).toEqual({
    type: 'compute_limit',
    message: expect.stringContaining('it took longer than 300 ms (security.compute_timeout_ms), in metadata.list.all'),
  });
});

test('a run goes on after one such step where its policy says so, and fails after two', async () => {
  const steps = ['one', 'two', 'three'].map((name) => slowStep(name, 'continue'));
  const pipelines = [`name: p\nstage: production\nsteps: [${steps.join(', ')}]`];
  world = await createWorld({ pipelines, agents, computeTimeoutMs: 300 });
  const run = await world.run('p', { metadata: METADATA });
  expect(run.steps.map(({ stepName, error }) => [stepName, error?.type])).toEqual([
    ['one', 'compute_limit'],
    ['two', 'compute_limit'],
  ]);
  expect(run.run).toMatchObject({
    status: 'failed',
    error: { step: 'two', message: expect.stringContaining('two evaluations of this run took too long') },
  });
});

test('what is larger than inline but quick gives the same result', async () => {
  const agent = (name: string, when: string, prompt: string) =>
    `{name: ${name}, executor: gateway, agent: a, when: '${when}', prompt_template: "${prompt}"}`;
  const steps = [
    agent('long', 'summary.contains("needle") && size(metadata.list) == 200', '{{severity}}'),
    agent('no', 'summary.contains("nothing")', 'x'),
    agent('much', 'true', '{{#each metadata.list}}{{#each ../metadata.list}}.{{/each}}{{/each}}'),
  ];
  world = await createWorld({ pipelines: [`name: p\nstage: production\nsteps: [${steps.join(', ')}]`], agents });
  const run = await world.run('p', { metadata: METADATA, summary: `${'x'.repeat(40_000)} needle` });
  expect(run.run.status).toBe('completed');
  expect(world.calls.map(({ input }) => input)).toEqual(['critical', '.'.repeat(40_000)]);
  expect(run.step('no').status).toBe('skipped');
});

test('an answer that takes too long to be checked fails the step without a second call', async () => {
  const schema = '{properties: {list: {uniqueItems: true, items: {anyOf: [{type: string}, {type: object}]}}}}';
  const pipelines = [
    `name: p\nstage: production\nsteps: [{name: one, executor: gateway, agent: a, prompt_template: hi, output_schema: ${schema}}]`,
  ];
  const list = Array.from({ length: 30_000 }, (_, index) => ({ index, more: 'x' }));
  world = await createWorld({
    pipelines,
    agents: { a: () => ({ confidence: 1, summary: 'ok', list }) },
    computeTimeoutMs: 1,
  });
  const run = await world.run('p');
  expect(run.step('one').error).toEqual({
    type: 'compute_limit',
    message: expect.stringContaining('the answer could not be checked against its schema: it took longer than 1 ms'),
  });
  expect(world.calls).toHaveLength(1);
});
