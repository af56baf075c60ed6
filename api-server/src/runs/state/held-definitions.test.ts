import { getHeapStatistics } from 'node:v8';
import type { Pipeline } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { parseShared } from '../../store/tables/bodies/shared-json.ts';
import { createWorld } from '../fixtures/engine.ts';
import type { ActiveRun } from './active-run.ts';
import { createHeldDefinitions, definitionBytes } from './held-definitions.ts';
import { createShares } from './shares.ts';

const KIB = 1024;
const property = (index: number) => [`p${index}`, { type: 'string', description: `${index}${'d'.repeat(200)}` }];
const schema = { type: 'object', properties: Object.fromEntries(Array.from({ length: 200 }, (_, at) => property(at))) };
const steps = Array.from({ length: 15 }, (_, at) => ({ name: `s${at}`, executor: 'gateway', output_schema: schema }));
const json = JSON.stringify({ name: 'p', steps });

test('what a definition read back takes does not grow with the uses of a library step', () => {
  const shared = parseShared(json);
  expect(shared).toEqual({ name: 'p', steps });
  expect(definitionBytes(shared as object)).toBe(definitionBytes({ name: 'p', steps }));
  expect(definitionBytes(shared as object)).toBeLessThan(100 * KIB);
  expect(definitionBytes(JSON.parse(json) as object)).toBeGreaterThan(900 * KIB);
});

test('names of fields count, each once', () => {
  const long = { ['n'.repeat(62_000)]: { type: 'string' } };
  expect(definitionBytes({ properties: long })).toBeGreaterThan(62_000);
  expect(definitionBytes({ properties: long, others: { ...long } })).toBeLessThan(63_000);
});

test('equal values of another kind or order stay apart', () => {
  const said = '[["1"],[1],{"0":1},["#0"],[null],["null"],{"a":1,"b":2},{"b":2,"a":1},[],{},[[]],[{}]]';
  expect(JSON.stringify(parseShared(said))).toBe(said);
});

test('a definition counts once for all runs of a namespace, until the last of them ends', () => {
  const memory = createShares(1_000_000);
  const { hold, drop } = createHeldDefinitions(memory);
  const runOf = (pipeline: object, namespace: string | null) =>
    ({ pipeline: pipeline as Pipeline, namespace, parent: null }) as ActiveRun;
  const definition = { name: 'p', steps };
  const size = definitionBytes(definition);
  const [one, other] = [runOf(definition, 'shop'), runOf(definition, 'shop')];
  hold(one);
  hold(other);
  expect(memory.all()).toBe(size);
  hold({ ...runOf(definition, 'bank'), parent: one });
  expect(memory.all()).toBe(size);
  hold(runOf(definition, 'bank'));
  hold(runOf({ ...definition }, 'shop'));
  expect(memory.all()).toBe(3 * size);
  drop(one);
  expect(memory.all()).toBe(3 * size);
});

/** As the engine bounds them. */
const MAX_HELD_BYTES = getHeapStatistics().heap_size_limit / 3;

test.each([
  [1, false],
  [60, true],
])(
  'where 100 KB are left, a run that waits with a definition of %i long steps leaves no room, after a restart too: %s',
  async (count, isFull) => {
    const ask = { executor: 'human', prompt_template: 'x'.repeat(4_000), timeout_seconds: 60 };
    const asks = Array.from({ length: count }, (_, at) => ({ name: `ask${at}`, ...ask }));
    const world = await createWorld({
      pipelines: [JSON.stringify({ name: 'asks', stage: 'production', steps: asks })],
    });
    // An eighth of the bound is kept for one more run.
    const also = { all: (MAX_HELD_BYTES / 8) * 7 - 100_000, own: 0 };
    await world.start('asks');
    expect(world.engine.isFull(null, also)).toBe(isFull);
    await world.restart();
    expect(world.engine.isFull(null, also)).toBe(false);
    await world.engine.resume();
    expect(world.engine.isFull(null, also)).toBe(isFull);
    await world.close();
  },
);
