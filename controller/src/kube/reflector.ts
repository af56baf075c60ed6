import { setTimeout as delay } from 'node:timers/promises';
import type { DefinitionKind } from '@signalbox/crds';
import { type CustomObject, GROUP, PLURALS, toCustomObject, VERSION } from '../objects/custom-object.ts';
import type { Refusal } from './answer.ts';
import type { Cluster } from './cluster.ts';
import { type ListCall, listAll } from './list.ts';
import type { WatchCall, WatchEvent } from './watch.ts';

/** Where the objects of a collection are kept. */
export interface ReflectedStore<Item> {
  replace(items: readonly Item[]): void;
  /** The object that it has in exactly this version, which need not be read again. */
  find(uid: string, resourceVersion: string): Item | undefined;
  /** True where it changed something. */
  upsert(item: Item): boolean;
  remove(uid: string): boolean;
  /** What is kept of the objects of a list. */
  fit?(items: readonly Item[]): Item[];
  /** An empty list waits to be confirmed. */
  doubtful(): boolean;
  /** The API server answered that this role may not list the collection. */
  forbid?(): void;
}

const FORBIDDEN = 403;

export interface ReflectorDeps<Item = CustomObject> {
  watch: WatchCall;
  store: ReflectedStore<Item>;
  /** Something may have changed. It carries no event: callers act on the state, not on events. */
  changed(): void;
  restarted(reason: EndReason, message: string): void;
  /** 0 to 1. */
  random(): number;
  now(): number;
}

export interface Scope {
  kind: DefinitionKind;
  /** Null watches all namespaces. */
  namespace: string | null;
}

/** A collection of any kind. */
export interface Collection<Item> {
  path: string;
  list: ListCall;
  labelSelector?: string;
  /** What to do where the server does not know the collection. */
  ifUnknown?: string;
  /** Null for an object that is not of this kind. */
  read(item: unknown): Item | null;
}

type EndReason = 'ended' | 'gone' | 'failed';

const RELIST_MS = 300_000;
/** A list confirms a burst of events once it is over: a watch that lost an event cannot know. */
const SETTLE_MS = 12_000;
const SETTLE_APART_MS = 20_000;
/** While an empty list waits to be confirmed. */
const DOUBT_MS = 21_000;
/** The client gives up a watch that was silent for 30 s. The API server sends a bookmark before a watch ends, so shorter watches stay current. */
const WATCH_SECONDS = 25;
const WATCH_GRACE_MS = 5000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;

/** The collection of our objects of one kind. */
export function collectionOf(
  { custom }: Pick<Cluster, 'custom'>,
  { kind, namespace }: Scope,
): Collection<CustomObject> {
  const about = { group: GROUP, version: VERSION, plural: PLURALS[kind] };
  return {
    path: `/apis/${GROUP}/${VERSION}${below(namespace)}/${PLURALS[kind]}`,
    list: (page, options) =>
      namespace === null
        ? custom.listClusterCustomObject({ ...about, ...page }, options)
        : custom.listNamespacedCustomObject({ ...about, namespace, ...page }, options),
    ifUnknown: `the server does not know the kind ${kind}; install the chart signalbox-crds, or apply config/crd`,
    read: (item) => toCustomObject(kind, item),
  };
}

/** The part of a path that narrows it to a namespace; null for all. */
export const below = (namespace: string | null): string =>
  namespace === null ? '' : `/namespaces/${encodeURIComponent(namespace)}`;

/**
 * Keeps a store equal to the API server until the signal: lists, watches from there, and starts over with a growing pause
 * whenever either fails. It lists again after a 410, after every burst of events and at the latest every five minutes.
 */
export async function reflect<Item extends { uid: string }>(
  deps: ReflectorDeps<Item>,
  collection: Collection<Item>,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const ended = await listAndWatch(deps, collection, signal);
    if (signal.aborted) return;
    failures = ended.listed ? 0 : failures + 1;
    deps.restarted(ended.reason, ended.message);
    await pause(deps, ended.reason === 'ended' ? 0 : failures, signal);
  }
}

interface Ended {
  listed: boolean;
  reason: EndReason;
  message: string;
}

async function listAndWatch<Item extends { uid: string }>(
  deps: ReflectorDeps<Item>,
  collection: Collection<Item>,
  signal: AbortSignal,
): Promise<Ended> {
  const listed = await listOnce(deps, collection, signal);
  if (!listed.ok) return { listed: false, reason: 'failed', message: messageOf(listed, collection) };
  const deadline = createDeadline(deps);
  try {
    return {
      listed: true,
      ...(await watchUntil(deps, collection, { from: listed.resourceVersion, deadline, signal })),
    };
  } finally {
    deadline.clear();
  }
}

/** Of the answer only the version outlives this call: a watch goes on for minutes, and the list is large. */
async function listOnce<Item extends { uid: string }>(
  { store, changed }: ReflectorDeps<Item>,
  collection: Collection<Item>,
  signal: AbortSignal,
): Promise<{ ok: true; resourceVersion: string } | Refusal> {
  const read = (item: unknown) => known(store, item) ?? collection.read(item);
  const listed = await listAll({ ...collection, read, ...(store.fit && { fit: store.fit }) }, signal);
  if (!listed.ok) {
    if (listed.status === FORBIDDEN) store.forbid?.();
    changed();
    return listed;
  }
  store.replace(listed.items);
  changed();
  return { ok: true, resourceVersion: listed.resourceVersion };
}

const messageOf = ({ status, message }: Refusal, { ifUnknown }: { ifUnknown?: string }): string =>
  status === 404 && ifUnknown !== undefined ? `${message}: ${ifUnknown}` : message;

interface Watching {
  from: string;
  deadline: Deadline;
  signal: AbortSignal;
}

/** Watches again and again, each time from the last version seen, until it is time for a new list. */
async function watchUntil<Item extends { uid: string }>(
  deps: ReflectorDeps<Item>,
  collection: Collection<Item>,
  { from, deadline, signal }: Watching,
): Promise<Omit<Ended, 'listed'>> {
  let version = from;
  let failures = 0;
  for (;;) {
    const watched = await watchOnce(deps, collection, { from: version, deadline, signal });
    version = watched.from;
    if (watched.reason === 'gone') return watched;
    if (signal.aborted || deadline.signal.aborted) return { reason: 'ended', message: 'time for a new list' };
    failures = watched.reason === 'ended' || watched.sawSomething ? 0 : failures + 1;
    deps.restarted(watched.reason, watched.message);
    await pause(deps, failures, signal);
  }
}

interface Watched {
  from: string;
  reason: EndReason;
  message: string;
  sawSomething: boolean;
}

async function watchOnce<Item extends { uid: string }>(
  deps: ReflectorDeps<Item>,
  { path, labelSelector, read }: Collection<Item>,
  { from, deadline, signal }: Watching,
): Promise<Watched> {
  const state: Watched = { from, reason: 'ended', message: 'the server closed the watch', sawSomething: false };
  const failed = new AbortController();
  const saw = (event: WatchEvent) => {
    if (event.type === 'ERROR') {
      Object.assign(state, fault(event.object?.code, event.object?.message));
      return failed.abort();
    }
    state.sawSomething = true;
    state.from = event.object?.metadata?.resourceVersion ?? state.from;
    if (event.type === 'BOOKMARK') return;
    deadline.saw();
    if (apply(deps.store, event, read)) deps.changed();
  };
  const ended = await deps.watch({
    path,
    query: {
      allowWatchBookmarks: true,
      resourceVersion: from,
      timeoutSeconds: WATCH_SECONDS,
      labelSelector,
    },
    saw,
    signal: AbortSignal.any([
      signal,
      deadline.signal,
      failed.signal,
      AbortSignal.timeout(WATCH_SECONDS * 1000 + WATCH_GRACE_MS),
    ]),
  });
  return ended.ok ? state : { ...state, ...fault(ended.status, ended.message) };
}

interface Deadline {
  /** Aborted when it is time for a new list. */
  signal: AbortSignal;
  /** An event came: the list follows once no more come. */
  saw(): void;
  clear(): void;
}

function createDeadline({ now, random, store }: Pick<ReflectorDeps<unknown>, 'now' | 'random' | 'store'>): Deadline {
  const controller = new AbortController();
  const listedAt = now();
  const end = () => controller.abort();
  const latest = setTimeout(end, store.doubtful() ? DOUBT_MS : RELIST_MS * (0.8 + 0.4 * random()));
  let settled: NodeJS.Timeout | undefined;
  return {
    signal: controller.signal,
    saw: () => {
      clearTimeout(settled);
      settled = setTimeout(end, Math.max(SETTLE_MS, listedAt + SETTLE_APART_MS - now()));
    },
    clear: () => {
      clearTimeout(latest);
      clearTimeout(settled);
    },
  };
}

/** 410: the server no longer has the version that the watch asks for, so only a list helps. */
const fault = (code = 0, message = 'the watch failed') => ({
  reason: code === 410 ? ('gone' as const) : ('failed' as const),
  message,
});

function known<Item>(store: ReflectedStore<Item>, item: unknown): Item | undefined {
  const { metadata } = (item ?? {}) as { metadata?: { uid?: string; resourceVersion?: string } };
  return metadata?.uid && metadata.resourceVersion ? store.find(metadata.uid, metadata.resourceVersion) : undefined;
}

/** True where the store changed: duplicates, late events and those of what this process wrote itself change nothing. */
function apply<Item extends { uid: string }>(
  store: ReflectedStore<Item>,
  { type, object }: WatchEvent,
  read: Collection<Item>['read'],
): boolean {
  if (type !== 'DELETED' && known(store, object)) return false;
  const item = read(object);
  if (item === null) return false;
  return type === 'DELETED' ? store.remove(item.uid) : store.upsert(item);
}

/** Doubles with every failure in a row, with jitter so that replicas do not come back together. */
async function pause({ random }: Pick<ReflectorDeps, 'random'>, failures: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2);
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
