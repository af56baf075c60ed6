import { expect, test } from 'vitest';
import { createWorld } from './world.ts';

function worldAt() {
  const clock = { now: 0 };
  const world = createWorld({
    kinds: ['Pipeline', 'Agent'],
    namespaces: ['a', 'b'],
    home: null,
    times: 1,
    now: () => clock.now,
  });
  const store = (kind: 'Pipeline' | 'Agent', namespace: string) => world.storeOf({ kind, namespace })!;
  return { clock, world, store };
}

test('one namespace that may not be listed does not hold up the others for longer than a minute', () => {
  const { clock, world, store } = worldAt();
  for (const kind of ['Pipeline', 'Agent'] as const) store(kind, 'a').replace([]);
  expect(world.objects()).toBeNull();
  for (const kind of ['Pipeline', 'Agent'] as const) store(kind, 'b').forbid();
  clock.now = 59_000;
  expect(world.objects()).toBeNull();
  clock.now = 60_000;
  expect(world.objects()).toEqual([]);
});

test.each([
  ['is only slow', []],
  ['is a kind that may be listed nowhere', ['a', 'b']],
])('a list is waited for where it %s', (_, forbidden) => {
  const { clock, world, store } = worldAt();
  for (const namespace of ['a', 'b']) store('Pipeline', namespace).replace([]);
  for (const namespace of forbidden) store('Agent', namespace).forbid();
  clock.now = 600_000;
  expect(world.objects()).toBeNull();
});
