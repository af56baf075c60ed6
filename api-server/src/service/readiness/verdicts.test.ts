import { expect, test } from 'vitest';
import { evaluate, pipelineOf, rows } from '../../analytics/readiness/readiness.fixture.ts';
import { createVerdicts } from './verdicts.ts';

const PIPELINE = pipelineOf({ operational: { min_runs: 2 } });
const edition = (name: string, hash = 'h1') => ({ name, hash, config: { ...PIPELINE, name } });
const MINUTE = 60_000;

function setUp(...names: string[]) {
  const world = { now: 0, loaded: names.map((name) => edition(name)), runs: 0, asked: [] as string[], fails: false };
  const errors: string[] = [];
  const verdicts = createVerdicts({
    pipelines: () => world.loaded,
    evaluate: (pipeline) => {
      world.asked.push(pipeline.name);
      if (world.fails) return Promise.reject(new Error('database gone'));
      return Promise.resolve({ ...evaluate({ pipeline, rows: rows(world.runs) }), gatheredAt: world.now });
    },
    now: () => world.now,
    log: { error: (_, message) => errors.push(message) },
  });
  const settle = async () => {
    while (await verdicts.next());
  };
  return { world, verdicts, settle, errors };
}

test('a verdict is null until the pipeline was looked at', async () => {
  const { verdicts, settle } = setUp('a');
  expect(verdicts.of('a', 'h1')).toBeNull();
  await settle();
  expect(verdicts.of('a', 'h1')).toMatchObject({ verdict: 'no_data', at: 0 });
  expect(verdicts.of('nobody', 'h1')).toBeNull();
});

test('each pipeline is looked at once in ten minutes, whatever happens meanwhile', async () => {
  const { world, verdicts, settle } = setUp('a', 'b');
  await settle();
  world.runs = 2;
  world.now = 10 * MINUTE - 1;
  await settle();
  expect(world.asked).toEqual(['a', 'b']);
  expect(verdicts.of('a', 'h1')?.verdict).toBe('no_data');
  world.now = 10 * MINUTE;
  await settle();
  expect(world.asked).toEqual(['a', 'b', 'a', 'b']);
  expect(verdicts.of('a', 'h1')).toMatchObject({ verdict: 'ready', at: 10 * MINUTE });
});

test('the verdict on one edition says nothing of another, which is looked at within half a minute', async () => {
  const { world, verdicts, settle } = setUp('a');
  world.runs = 2;
  await settle();
  world.loaded = [edition('a', 'h2')];
  expect(verdicts.of('a', 'h2')).toBeNull();
  world.now = 29_999;
  await settle();
  expect(world.asked).toHaveLength(1);
  world.now = 30_000;
  await settle();
  expect(verdicts.of('a', 'h2')).toMatchObject({ verdict: 'ready' });
  expect(verdicts.of('a', 'h1')).toBeNull();
});

test('one that fails keeps its verdict, is told and tried again after ten minutes', async () => {
  const { world, verdicts, settle, errors } = setUp('a');
  await settle();
  world.fails = true;
  world.now = 10 * MINUTE;
  await settle();
  expect(errors).toHaveLength(1);
  expect(verdicts.of('a', 'h1')?.verdict).toBe('no_data');
  world.fails = false;
  world.now = 20 * MINUTE;
  await settle();
  expect(verdicts.of('a', 'h1')?.at).toBe(20 * MINUTE);
});

test('one that is not loaded any more is forgotten', async () => {
  const { world, verdicts, settle } = setUp('a');
  await settle();
  world.loaded = [];
  await settle();
  expect(verdicts.of('a', 'h1')).toBeNull();
});

test('it rests ten times as long as it worked, and stops when told', async () => {
  const pauses: number[] = [];
  let now = 0;
  const verdicts = createVerdicts({
    pipelines: () => [edition('a')],
    evaluate: (pipeline) => {
      now += 20;
      return Promise.resolve(evaluate({ pipeline, rows: [] }));
    },
    now: () => now,
    pause: async (milliseconds) => {
      pauses.push(milliseconds);
      if (pauses.length === 2) void verdicts.stop();
    },
    log: { error: () => undefined },
  });
  verdicts.start();
  await verdicts.stop();
  await expect.poll(() => pauses.length).toBeGreaterThan(0);
  expect(pauses[0]).toBe(200);
});
