import { expect, test } from 'vitest';
import type { ActiveRun } from '../state/active-run.ts';
import type { ConcurrencyGroup } from '../state/concurrency-group.ts';
import { createConcurrencyGroups } from './concurrency-groups.ts';
import { inConcurrencyGroup, type InGroupDeps } from './in-concurrency-group.ts';

const group: ConcurrencyGroup = { key: 'p\n', limit: 1, onLimit: 'queue' };

/** Sub-runs of one process whose places another process stores; a place is given by `free`, time goes on by `pass`. */
function sharedGroup() {
  const looks: string[] = [];
  const ended: string[] = [];
  const places = new Set<string>();
  let delays: (() => void)[] = [];
  const deps = {
    concurrencyGroups: createConcurrencyGroups(),
    delay: (_: number, signal: AbortSignal) =>
      new Promise<void>((done) => {
        signal.addEventListener('abort', () => done(), { once: true });
        delays.push(done);
      }),
    execute: async ({ id }: ActiveRun) => {
      ended.push(id);
      return { status: 'completed' };
    },
    enterShared: async ({ id }: ActiveRun) => {
      looks.push(id);
      return places.delete('free');
    },
  } as unknown as InGroupDeps;
  const start = (id: string) => {
    const slot = { giveBack: () => undefined, takeAgain: () => Promise.resolve() };
    const controller = new AbortController();
    const run = { id, slot, controller, concurrencyGroup: group, inFlight: new Map(), results: new Map() };
    return { controller, outcome: inConcurrencyGroup(deps, run as unknown as ActiveRun) };
  };
  const settle = () => new Promise((done) => setImmediate(done));
  const pass = async () => {
    const over = delays;
    delays = [];
    over.forEach((done) => done());
    await settle();
    return looks.splice(0);
  };
  return { start, pass, ended, free: () => places.add('free') };
}

test('of sub-runs that wait for a place which all processes share, the first one looks, and each has its turn', async () => {
  const { start, pass, ended, free } = sharedGroup();
  const waiting = ['a', 'b', 'c', 'd'].map(start);
  await pass();
  for (let look = 0; look < 3; look++) expect(await pass()).toEqual(['a']);
  waiting[1]?.controller.abort();
  expect(await waiting[1]?.outcome).toMatchObject({ status: 'cancelled' });
  for (const id of ['a', 'c', 'd']) {
    free();
    while ((await pass()).length > 0 && !ended.includes(id));
  }
  expect(ended).toEqual(['a', 'c', 'd']);
});
