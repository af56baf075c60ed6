import { afterEach, expect, test, vi } from 'vitest';
import { createScopeStore } from '../objects/scope-store.ts';
import { STEP } from '../testing/objects.ts';
import type { KubeAnswer, KubeStream } from './cluster.ts';
import { reflect } from './reflector.ts';

const item = (name: string, resourceVersion: string) => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, generation: 1, resourceVersion },
  spec: { steps: [{ name: 'look', ...STEP }] },
});
const event = (type: string, name: string, resourceVersion: string) =>
  JSON.stringify({ type, object: item(name, resourceVersion) });
const list = (resourceVersion: string, items: unknown[], more?: string): KubeAnswer => ({
  ok: true,
  body: { kind: 'PipelineList', metadata: { resourceVersion, ...(more ? { continue: more } : {}) }, items },
});
const failure = (status: number) => ({ ok: false as const, status, message: `answered ${status}` });

/** A stream that says its lines and then ends, breaks or stays open. */
function stream(lines: string[], end: 'ends' | 'breaks' | 'stays' = 'stays'): (signal: AbortSignal) => KubeStream {
  return (signal) => ({
    ok: true,
    lines: (async function* () {
      yield* lines;
      if (end === 'breaks') throw new Error('the connection broke');
      if (end === 'stays') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    })(),
  });
}

const stopping = new Set<AbortController>();
afterEach(() => stopping.forEach((controller) => controller.abort()));

/** Answers lists and watches in the order given; the last of each again and again. */
function start(lists: KubeAnswer[], streams: ((signal: AbortSignal) => KubeStream)[]) {
  const store = createScopeStore(Date.now);
  const asked: string[] = [];
  const restarts: string[] = [];
  const held: { reason: string; names: string[] }[] = [];
  const names = () =>
    store
      .objects()
      .map(({ name }) => name)
      .toSorted();
  const controller = new AbortController();
  stopping.add(controller);
  const done = reflect(
    {
      cluster: {
        send: async ({ path }) => {
          asked.push(path);
          return (lists.length > 1 ? lists.shift() : lists[0]) ?? failure(500);
        },
        stream: async (path, signal) => {
          asked.push(path);
          return ((streams.length > 1 ? streams.shift() : streams[0]) ?? stream([]))(signal);
        },
      },
      store,
      changed: () => undefined,
      restarted: (reason) => {
        restarts.push(reason);
        held.push({ reason, names: names() });
      },
      random: () => 0,
      now: Date.now,
    },
    { kind: 'Pipeline', namespace: null },
    controller.signal,
  );
  const stop = () => {
    controller.abort();
    return done;
  };
  return {
    names,
    /** What was held at every restart. */
    held,
    store,
    asked,
    restarts,
    stop,
  };
}

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });

test('lists page by page and watches on from there', async () => {
  const { names, asked, stop } = start(
    [list('7', [item('a', '3')], 'more'), list('7', [item('b', '4')])],
    [stream([event('ADDED', 'c', '8'), event('DELETED', 'a', '9')])],
  );
  await eventually(() => expect(names()).toEqual(['b', 'c']));
  expect(asked[0]).toBe('/apis/signalbox.dev/v1alpha1/pipelines?limit=500');
  expect(asked[1]).toContain('continue=more');
  expect(asked[2]).toContain('resourceVersion=7');
  await stop();
});

test('a list whose second page fails takes nothing away and is asked for again as a whole', async () => {
  const { names, store, held, stop } = start(
    [
      list('7', [item('a', '3'), item('b', '4')]),
      list('8', [item('a', '3')], 'more'),
      failure(500),
      list('9', [item('b', '4')]),
    ],
    [stream([JSON.stringify({ type: 'ERROR', object: { code: 410, message: 'too old' } })]), stream([])],
  );
  await eventually(() => expect(names()).toEqual(['b']));
  expect(held.find(({ reason }) => reason === 'failed')?.names).toEqual(['a', 'b']);
  expect(store.isGone('uid-a')).toBe(true);
  await stop();
});

test('a broken watch goes on where it was, without a new list', async () => {
  const { names, asked, stop } = start(
    [list('7', [item('a', '3')])],
    [stream([event('ADDED', 'b', '8')], 'breaks'), stream([event('ADDED', 'b', '8'), event('ADDED', 'c', '9')])],
  );
  await eventually(() => expect(names()).toEqual(['a', 'b', 'c']));
  expect(asked.filter((path) => path.includes('limit='))).toHaveLength(1);
  expect(asked.at(-1)).toContain('resourceVersion=8');
  await stop();
});

test.each([403, 404, 0, 500])('lists that answer %i take nothing away, and are tried again', async (status) => {
  const { names, restarts, stop } = start([list('7', [item('a', '3')]), failure(status)], [() => failure(410)]);
  await eventually(() => expect(restarts.filter((reason) => reason === 'failed').length).toBeGreaterThan(1));
  expect(names()).toEqual(['a']);
  await stop();
});

test('something that is no list is a failure', async () => {
  const { store, restarts, stop } = start([{ ok: true, body: { kind: 'Status', metadata: {}, items: [] } }], []);
  await eventually(() => expect(restarts).toContain('failed'));
  expect(store.synced()).toBe(false);
  await stop();
});

test('a line that is no JSON ends the watch, not the process', async () => {
  const { names, restarts, stop } = start(
    [list('7', [item('a', '3')])],
    [stream(['{"type":"ADD']), stream([event('ADDED', 'b', '8')])],
  );
  await eventually(() => expect(names()).toEqual(['a', 'b']));
  expect(restarts).toContain('failed');
  await stop();
});
