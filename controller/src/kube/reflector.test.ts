import { ApiException } from '@kubernetes/client-node';
import { afterEach, expect, test, vi } from 'vitest';
import { toCustomObject } from '../objects/custom-object.ts';
import { createScopeStore } from '../objects/scope-store.ts';
import { STEP } from '../testing/objects.ts';
import type { KubeAnswer } from './answer.ts';
import { collectionOf, reflect } from './reflector.ts';
import type { WatchCall, WatchRequest } from './watch.ts';

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

/** A watch that delivers its lines and then ends, breaks or stays open. */
function stream(lines: string[], end: 'ends' | 'breaks' | 'stays' = 'stays'): WatchCall {
  return async ({ saw, signal }) => {
    for (const line of lines) if (!signal.aborted) saw(JSON.parse(line) as Parameters<WatchRequest['saw']>[0]);
    if (end === 'breaks') return { ok: false, status: 0, message: 'the connection broke' };
    if (end === 'stays' && !signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return { ok: true };
  };
}
const refused =
  (status: number): WatchCall =>
  async () =>
    failure(status);

const stopping = new Set<AbortController>();
afterEach(() => stopping.forEach((controller) => controller.abort()));

/** Answers lists and watches in the order given; the last of each again and again. */
function start(lists: KubeAnswer[], streams: WatchCall[]) {
  const store = createScopeStore(Date.now);
  const asked: string[] = [];
  const restarts: string[] = [];
  const messages: string[] = [];
  const held: { reason: string; names: string[] }[] = [];
  const names = () =>
    store
      .objects()
      .map(({ name }) => name)
      .toSorted();
  const controller = new AbortController();
  stopping.add(controller);
  const list = async ({ plural, limit, _continue }: { plural: string; limit?: number; _continue?: string }) => {
    asked.push(`${plural}?limit=${limit}${_continue ? `&continue=${_continue}` : ''}`);
    const answer = (lists.length > 1 ? lists.shift() : lists[0]) ?? failure(500);
    if (answer.ok) return answer.body;
    throw answer.status === 0 ? new Error(answer.message) : new ApiException(answer.status, '', answer, {});
  };
  const custom = {
    listClusterCustomObject: list,
    listNamespacedCustomObject: list,
    patchNamespacedCustomObjectStatus: list,
  };
  const done = reflect(
    {
      watch: async (request) => {
        asked.push(`${request.path}?resourceVersion=${request.query['resourceVersion']}`);
        return ((streams.length > 1 ? streams.shift() : streams[0]) ?? stream([]))(request);
      },
      store,
      changed: () => undefined,
      restarted: (reason, message) => {
        restarts.push(reason);
        messages.push(message);
        held.push({ reason, names: names() });
      },
      random: () => 0,
      now: Date.now,
    },
    collectionOf({ custom }, { kind: 'Pipeline', namespace: null }),
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
    messages,
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
  expect(asked[0]).toBe('pipelines?limit=500');
  expect(asked[1]).toContain('continue=more');
  expect(asked[2]).toBe('/apis/signalbox.dev/v1alpha1/pipelines?resourceVersion=7');
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
  const { names, restarts, stop } = start([list('7', [item('a', '3')]), failure(status)], [refused(410)]);
  await eventually(() => expect(restarts.filter((reason) => reason === 'failed').length).toBeGreaterThan(1));
  expect(names()).toEqual(['a']);
  await stop();
});

test('a server without the custom resources is said to lack their chart', async () => {
  const { messages, stop } = start([failure(404)], []);
  await eventually(() =>
    expect(messages).toContain(
      'answered 404: the server does not know the kind Pipeline; install the chart signalbox-crds, or apply config/crd',
    ),
  );
  await stop();
});

test('something that is no list is a failure', async () => {
  const { store, restarts, stop } = start([{ ok: true, body: { kind: 'Status', metadata: {}, items: [] } }], []);
  await eventually(() => expect(restarts).toContain('failed'));
  expect(store.synced()).toBe(false);
  await stop();
});

test('what the store has in this version already is not read again', async () => {
  const store = createScopeStore(() => 0);
  const read: unknown[] = [];
  const ending = new AbortController();
  const known = toCustomObject('Pipeline', item('a', '5'));
  if (known) store.replace([known]);
  const lists = { kind: 'PipelineList', metadata: { resourceVersion: '6' }, items: [item('a', '5'), item('b', '6')] };
  const done = reflect(
    {
      watch: stream([event('MODIFIED', 'a', '5'), event('MODIFIED', 'b', '7')]),
      store,
      changed: () => undefined,
      restarted: () => undefined,
      random: () => 0,
      now: () => 0,
    },
    {
      path: '/',
      list: () => Promise.resolve(lists),
      read: (value) => {
        const object = toCustomObject('Pipeline', value);
        read.push(`${object?.name} ${object?.resourceVersion}`);
        return object;
      },
    },
    ending.signal,
  );
  await vi.waitFor(() => expect(read).toEqual(['b 6', 'b 7']));
  ending.abort();
  await done;
});

test.each([
  [403, true],
  [500, false],
])('a list that fails with %i is one that this role may not have: %s', async (status, isForbidden) => {
  const { store, restarts, stop } = start([failure(status)], []);
  const forbid = vi.spyOn(store, 'forbid');
  await eventually(() => expect(restarts).toContain('failed'));
  expect(forbid.mock.calls.length > 0).toBe(isForbidden);
  await stop();
});
