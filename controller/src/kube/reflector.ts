import { setTimeout as delay } from 'node:timers/promises';
import type { DefinitionKind } from '@signalbox/crds';
import { type CustomObject, GROUP, PLURALS, toCustomObject, VERSION } from '../objects/custom-object.ts';
import type { Cluster } from './cluster.ts';
import { listAll } from './list.ts';

/** What a collection is kept in. */
export interface ReflectedStore<Item> {
  replace(items: readonly Item[]): void;
  /** True where it changed something. */
  upsert(item: Item): boolean;
  remove(uid: string): boolean;
  /** An empty list waits to be confirmed. */
  doubtful(): boolean;
}

export interface ReflectorDeps<Item = CustomObject> {
  cluster: Pick<Cluster, 'send' | 'stream'>;
  store: ReflectedStore<Item>;
  /** Something may have changed; carries nothing, so that nobody acts on an event (Design 2). */
  changed(): void;
  restarted(reason: 'ended' | 'gone' | 'failed', message: string): void;
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
  labelSelector?: string;
  /** Null for what cannot be one of them. */
  read(item: unknown): Item | null;
}

const RELIST_MS = 300_000;
/** A burst of events is confirmed by a list once it is over, because a watch that lost one of them cannot know. */
const SETTLE_MS = 12_000;
const SETTLE_APART_MS = 20_000;
/** While an empty list waits to be confirmed. */
const DOUBT_MS = 21_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;

/** Keeps a store equal to our objects of one kind until it is told to stop. */
export function reflect(deps: ReflectorDeps, { kind, namespace }: Scope, signal: AbortSignal): Promise<void> {
  const path = `/apis/${GROUP}/${VERSION}${below(namespace)}/${PLURALS[kind]}`;
  return reflectCollection(deps, { path, read: (item) => toCustomObject(kind, item) }, signal);
}

/** The part of a path that narrows it to a namespace; null for all. */
export const below = (namespace: string | null): string =>
  namespace === null ? '' : `/namespaces/${encodeURIComponent(namespace)}`;

/**
 * Keeps a store equal to the API server until it is told to stop: lists, watches from there, and begins again with a
 * growing pause whenever either fails, with a new list after a 410, after every burst of events and at the latest every
 * five minutes.
 */
export async function reflectCollection<Item extends { uid: string }>(
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
  reason: 'ended' | 'gone' | 'failed';
  message: string;
}

async function listAndWatch<Item extends { uid: string }>(
  deps: ReflectorDeps<Item>,
  collection: Collection<Item>,
  signal: AbortSignal,
): Promise<Ended> {
  const listed = await listOnce(deps, collection, signal);
  if (!listed.ok) return { listed: false, reason: 'failed', message: listed.message };
  const listedAt = deps.now();
  const until = listedAt + (deps.store.doubtful() ? DOUBT_MS : RELIST_MS * (0.8 + 0.4 * deps.random()));
  let from = listed.resourceVersion;
  let failures = 0;
  for (;;) {
    const watched = await watchOnce(deps, { collection, from, until, listedAt }, signal);
    from = watched.from;
    if (watched.settled) return { listed: true, reason: 'ended', message: 'confirms what the watch told' };
    if (watched.reason === 'gone') return { listed: true, reason: 'gone', message: watched.message };
    if (signal.aborted || deps.now() >= until) return { listed: true, reason: 'ended', message: 'time for a new list' };
    failures = watched.sawSomething ? 0 : failures + 1;
    deps.restarted(watched.reason, watched.message);
    await pause(deps, failures, signal);
  }
}

/** Of the answer only the version outlives this call: a watch goes on for minutes, and what was listed is large. */
async function listOnce<Item extends { uid: string }>(
  { cluster, store, changed }: ReflectorDeps<Item>,
  collection: Collection<Item>,
  signal: AbortSignal,
): Promise<{ ok: true; resourceVersion: string } | { ok: false; message: string }> {
  const listed = await listAll(cluster, collection, signal);
  if (!listed.ok) return listed;
  store.replace(listed.items.flatMap((item) => collection.read(item) ?? []));
  changed();
  return { ok: true, resourceVersion: listed.resourceVersion };
}

interface Watched {
  from: string;
  reason: 'ended' | 'gone' | 'failed';
  message: string;
  sawSomething: boolean;
  settled: boolean;
}

interface WatchEvent {
  type?: string;
  object?: { metadata?: { resourceVersion?: string }; code?: number; message?: string };
}

interface Watching<Item> {
  collection: Collection<Item>;
  from: string;
  until: number;
  listedAt: number;
}

async function watchOnce<Item extends { uid: string }>(
  deps: ReflectorDeps<Item>,
  { collection, from, until, listedAt }: Watching<Item>,
  signal: AbortSignal,
): Promise<Watched> {
  const state: Watched = {
    from,
    reason: 'ended',
    message: 'the server closed it',
    sawSomething: false,
    settled: false,
  };
  const seconds = Math.max(1, Math.ceil((until - deps.now()) / 1000));
  const query = new URLSearchParams({
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: from,
    timeoutSeconds: String(seconds),
    ...(collection.labelSelector === undefined ? {} : { labelSelector: collection.labelSelector }),
  });
  const settling = createSettling(deps, listedAt);
  const own = AbortSignal.any([signal, settling.signal, AbortSignal.timeout((seconds + 5) * 1000)]);
  const opened = await deps.cluster.stream(`${collection.path}?${query.toString()}`, own);
  if (!opened.ok) return { ...state, ...fault(opened.status, opened.message) };
  try {
    return await follow(opened.lines, state, (event) => {
      if (event.type !== 'BOOKMARK') settling.saw();
      if (apply(deps.store, collection, event)) deps.changed();
    });
  } catch (error) {
    return settling.signal.aborted ? { ...state, settled: true } : { ...state, ...fault(0, String(error)) };
  } finally {
    settling.stop();
  }
}

/** Reads a watch to its end; the state says how far it came, also where this throws. */
async function follow(
  lines: AsyncIterable<string>,
  state: Watched,
  saw: (event: WatchEvent) => void,
): Promise<Watched> {
  for await (const line of lines) {
    const event = JSON.parse(line) as WatchEvent;
    if (event.type === 'ERROR') return { ...state, ...fault(event.object?.code, event.object?.message) };
    state.sawSomething = true;
    state.from = versionOf(event) ?? state.from;
    saw(event);
  }
  return state;
}

/** Its signal is aborted once a burst of events has been over for a while. */
function createSettling({ now }: Pick<ReflectorDeps, 'now'>, listedAt: number) {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | null = null;
  const stop = () => {
    if (timer) clearTimeout(timer);
  };
  return {
    signal: controller.signal,
    stop,
    saw: () => {
      stop();
      timer = setTimeout(() => controller.abort(), Math.max(SETTLE_MS, listedAt + SETTLE_APART_MS - now()));
    },
  };
}

const versionOf = ({ object }: WatchEvent): string | undefined => object?.metadata?.resourceVersion;

/** 410: what the watch wants to go on from was compacted away, so only a list helps. */
const fault = (code = 0, message = 'the watch failed') => ({
  reason: code === 410 ? ('gone' as const) : ('failed' as const),
  message,
});

/** True where the store changed: duplicates and what comes late change nothing. */
function apply<Item extends { uid: string }>(
  store: ReflectedStore<Item>,
  collection: Collection<Item>,
  { type, object }: WatchEvent,
): boolean {
  const read = type === 'BOOKMARK' ? null : collection.read(object);
  if (read === null) return false;
  return type === 'DELETED' ? store.remove(read.uid) : store.upsert(read);
}

/** Doubles with every failure in a row, with jitter so that replicas do not come back together. */
async function pause({ random }: Pick<ReflectorDeps, 'random'>, failures: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2);
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
