import { setTimeout as delay } from 'node:timers/promises';
import type { DefinitionKind } from '@signalbox/crds';
import { type CustomObject, GROUP, PLURALS, toCustomObject, VERSION } from '../objects/custom-object.ts';
import type { ScopeStore } from '../objects/scope-store.ts';
import type { Cluster } from './cluster.ts';
import { listAll } from './list.ts';

export interface ReflectorDeps {
  cluster: Pick<Cluster, 'send' | 'stream'>;
  store: ScopeStore;
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

const RELIST_MS = 300_000;
/** While an empty list waits to be confirmed. */
const DOUBT_MS = 21_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;

/**
 * Keeps a store equal to the API server until it is told to stop: lists, watches from there, and begins again with a
 * growing pause whenever either fails, with a new list after a 410 and at the latest every five minutes.
 */
export async function reflect(deps: ReflectorDeps, scope: Scope, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const ended = await listAndWatch(deps, scope, signal);
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

async function listAndWatch(deps: ReflectorDeps, scope: Scope, signal: AbortSignal): Promise<Ended> {
  const path = pathOf(scope);
  const listed = await listAll(deps.cluster, path, signal);
  if (!listed.ok) return { listed: false, reason: 'failed', message: listed.message };
  deps.store.replace(listed.items.flatMap((item) => toCustomObject(scope.kind, item) ?? []));
  deps.changed();
  const until = deps.now() + (deps.store.doubtful() ? DOUBT_MS : RELIST_MS * (0.8 + 0.4 * deps.random()));
  let from = listed.resourceVersion;
  let failures = 0;
  for (;;) {
    const watched = await watchOnce(deps, { scope, path, from, until }, signal);
    from = watched.from;
    if (watched.reason === 'gone') return { listed: true, reason: 'gone', message: watched.message };
    if (signal.aborted || deps.now() >= until) return { listed: true, reason: 'ended', message: 'time for a new list' };
    failures = watched.sawSomething ? 0 : failures + 1;
    deps.restarted(watched.reason, watched.message);
    await pause(deps, failures, signal);
  }
}

interface Watched {
  from: string;
  reason: 'ended' | 'gone' | 'failed';
  message: string;
  sawSomething: boolean;
}

interface WatchEvent {
  type?: string;
  object?: { metadata?: { resourceVersion?: string }; code?: number; message?: string };
}

async function watchOnce(
  deps: ReflectorDeps,
  { scope, path, from, until }: { scope: Scope; path: string; from: string; until: number },
  signal: AbortSignal,
): Promise<Watched> {
  const state: Watched = { from, reason: 'ended', message: 'the server closed it', sawSomething: false };
  const seconds = Math.max(1, Math.ceil((until - deps.now()) / 1000));
  const query = new URLSearchParams({
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: from,
    timeoutSeconds: String(seconds),
  });
  const own = AbortSignal.any([signal, AbortSignal.timeout((seconds + 5) * 1000)]);
  const opened = await deps.cluster.stream(`${path}?${query.toString()}`, own);
  if (!opened.ok) return { ...state, ...fault(opened.status, opened.message) };
  try {
    for await (const line of opened.lines) {
      const event = JSON.parse(line) as WatchEvent;
      if (event.type === 'ERROR') return { ...state, ...fault(event.object?.code, event.object?.message) };
      state.sawSomething = true;
      state.from = versionOf(event) ?? state.from;
      if (apply(deps.store, scope.kind, event)) deps.changed();
    }
    return state;
  } catch (error) {
    return { ...state, ...fault(0, String(error)) };
  }
}

const versionOf = ({ object }: WatchEvent): string | undefined => object?.metadata?.resourceVersion;

/** 410: what the watch wants to go on from was compacted away, so only a list helps. */
const fault = (code = 0, message = 'the watch failed') => ({
  reason: code === 410 ? ('gone' as const) : ('failed' as const),
  message,
});

/** True where the store changed: duplicates and what comes late change nothing. */
function apply(store: ScopeStore, kind: DefinitionKind, { type, object }: WatchEvent): boolean {
  const read: CustomObject | null = type === 'BOOKMARK' ? null : toCustomObject(kind, object);
  if (read === null) return false;
  return type === 'DELETED' ? store.remove(read.uid) : store.upsert(read);
}

function pathOf({ kind, namespace }: Scope): string {
  const where = namespace === null ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `/apis/${GROUP}/${VERSION}${where}/${PLURALS[kind]}`;
}

/** Doubles with every failure in a row, with jitter so that replicas do not come back together. */
async function pause({ random }: ReflectorDeps, failures: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2);
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
