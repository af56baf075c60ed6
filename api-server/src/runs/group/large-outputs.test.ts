import { afterEach, expect, test, vi } from 'vitest';
import type { LoadedPipeline } from '../../definitions/snapshot.ts';
import { createWorld, sure, type World } from '../fixtures/engine.ts';

let world: World;
afterEach(() => world.close());

const TEXT = 'x'.repeat(900_000);
const items = (count: number) => ({ metadata: { items: Array.from({ length: count }, (_, at) => at) } });
const each = (step: string) =>
  `name: p\nsteps:\n  - name: each\n    fan_out: {over: metadata.items, join: any_must_pass, max_parallel: 1, max_items: 200, step: ${step}}\n`;
const ASKS = '{executor: gateway, agent: a, prompt_template: hi}';

test('the output of a group has as many outputs of its branches as there is room for, and says which it has not', async () => {
  const after =
    '  - {name: after, executor: gateway, agent: a, prompt_template: "{{#each steps.each.output.branches}}{{summary}}{{output.at}} {{/each}}"}\n';
  let at = 0;
  world = await createWorld({
    pipelines: [each(ASKS) + after],
    agents: { a: () => ({ ...sure(0.9), text: at === 2 ? 'short' : TEXT, at: at++ }) },
  });
  const run = await world.run('p', items(5));
  expect(run.run.status).toBe('completed');
  expect(run.step('after').rawResponse?.prompt).toBe('looked0 looked1 looked2 looked looked ');
  expect(run.step('each').output).toMatchObject({
    branches: [{ output: { at: 0 } }, { output: { at: 1 } }, { output: { at: 2 } }, LEFT_OUT, LEFT_OUT],
  });
  expect(run.step('each/4').output).toMatchObject({ at: 4, text: TEXT });
  expect(run.events).toContain('output_left_out');
  const message =
    'the outputs of 2 of 5 branches are left out of steps.each.output, which has room for 2 MiB together; their summaries are there';
  expect(run.step('each').trustReport?.warnings).toEqual([{ type: 'output_left_out', message }]);
  const blanks = 'the prompt went out with blanks: there is no output.at (left out)';
  expect(run.step('after').trustReport?.warnings).toEqual([{ type: 'blank_values', message: blanks }]);
  expect(run.run.warningCount).toBe(2);
});

const LEFT_OUT = { status: 'completed', summary: 'looked', trust: 0.9, output: { left_out: true } };

test('a long summary beside an output that is left out is cut', async () => {
  world = await createWorld({
    pipelines: [each(ASKS)],
    agents: { a: () => ({ ...sure(0.9), summary: 'é'.repeat(500_000) }) },
  });
  const { branches } = (await world.run('p', items(6))).step('each').output as { branches: { summary: string }[] };
  expect(branches.map(({ summary }) => summary.length)).toEqual([...Array<number>(4).fill(500_000), 518, 518]);
});

test('the output of a sub-run has as many outputs of its steps as there is room for', async () => {
  world = await createWorld({
    pipelines: [
      each(ASKS).replace('name: p', 'name: child'),
      'name: p\nsteps:\n  - {name: below, executor: pipeline, pipeline: child}\n',
    ],
    agents: { a: () => ({ ...sure(0.9), text: TEXT }) },
  });
  const run = await world.run('p', items(3));
  const { steps } = run.step('below').output as { steps: Record<string, object> };
  expect(Object.entries(steps).map(([name, output]) => [name, 'left_out' in output])).toEqual([
    ['each/0', false],
    ['each/1', false],
    ['each/2', true],
    ['each', true],
  ]);
});

test('the answers of a run have so much room; what is answered beyond is no answer, and nothing of it is kept', async () => {
  world = await createWorld({
    pipelines: [each(ASKS)],
    agents: { a: () => ({ ...sure(0.9), text: TEXT }) },
  });
  const run = await world.run('p', items(30));
  const ended = run.steps.filter(({ stepName }) => stepName !== 'each').map(({ status }) => status);
  const kept = ended.indexOf('failed');
  expect(kept).toBeGreaterThan(5);
  expect(kept).toBeLessThan(20);
  expect(ended.slice(kept).every((status) => status === 'failed')).toBe(true);
  expect(run.step('each/29')).toMatchObject({
    error: {
      type: 'output_invalid',
      message: expect.stringMatching(/take more than 16 MiB together: ask for shorter answers, or move steps to/),
    },
    output: null,
  });
  expect(JSON.stringify(run.step('each/29')).length).toBeLessThan(10_000);
});

test('of large answers that come in one moment each leaves time to others before the next one', async () => {
  const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key-${at}`, 'v']));
  let asked = 0;
  let answer: (() => void) | undefined;
  const all = new Promise<void>((resolve) => (answer = resolve));
  world = await createWorld({
    pipelines: [each(ASKS).replace('max_parallel: 1', 'max_parallel: 12')],
    agents: {
      a: async () => {
        asked += 1;
        if (asked === 12) answer?.();
        await all;
        return { ...sure(0.9), ...keys };
      },
    },
  });
  let turns = 0;
  let before = performance.now();
  const tick = () => {
    if (performance.now() - before > 5) turns += 1;
    before = performance.now();
    timer = setImmediate(tick);
  };
  let timer = setImmediate(tick);
  const run = await world.run('p', items(12));
  clearImmediate(timer);
  expect(run.run.status).toBe('completed');
  expect(turns).toBeGreaterThan(24);
});

test('the prompts of a run have so much room; a step with more is not asked, one with less is', async () => {
  const look = '{executor: gateway, agent: a, prompt_template: "{{metadata.text}}"}';
  const asked = vi.fn<() => ReturnType<typeof sure>>(() => sure(0.9));
  world = await createWorld({
    pipelines: [`${each(look)}  - {name: after, executor: gateway, agent: a, prompt_template: hi}\n`],
    agents: { a: asked },
  });
  const { metadata } = items(150);
  const run = await world.run('p', { metadata: { ...metadata, text: 'x'.repeat(250_000) } });
  expect(run.step('each/149')).toMatchObject({ status: 'failed', error: { type: 'prompts_too_large' } });
  expect(run.step('after').status).toBe('completed');
  expect(asked.mock.calls.length).toBeGreaterThan(100);
  expect(asked.mock.calls.length).toBeLessThan(140);
});

test('the list of a fan-out counts towards the bytes of a day of its namespace, also where no branch runs', async () => {
  const skips = '{executor: gateway, agent: a, prompt_template: hi, when: "false"}';
  const over = '"[metadata.text, metadata.text, metadata.text]"';
  const child = each(skips).replace('name: p', 'name: child').replace('metadata.items', over);
  const starts = '{executor: pipeline, pipeline: child, on_failure: continue}';
  world = await createWorld({ pipelines: [each(starts), child], namespaces: { shop: { daily_bytes: 2_700_000 } } });
  const standing = { namespace: 'shop', admitted: true, tenant: {} } as unknown as LoadedPipeline['standing'];
  for (const [name, pipeline] of world.pipelines) world.pipelines.set(name, { ...pipeline, standing });
  const { metadata } = items(6);
  const run = await world.run('p', { metadata: { ...metadata, text: 'x'.repeat(200_000) } });
  const failed = run.steps.filter(({ status }) => status === 'failed').map(({ error }) => error?.message);
  expect(failed).toHaveLength(3);
  expect(failed[0]).toContain('daily_bytes of tenancy.namespaces');
});
