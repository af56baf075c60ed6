import { canonicalJson } from '@signalbox/crds';
import { createDirtyLoop } from '../dirty-loop.ts';
import type { Cluster } from '../kube/cluster.ts';
import type { CustomObject } from '../objects/custom-object.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ReplicaViews } from '../observe/ask-replicas.ts';
import type { Verdict } from '../plan/plan.ts';
import { watchCollections } from '../watch-world.ts';
import { childCollection, createChildApi } from './child-api.ts';
import { createChildStores } from './child-store.ts';
import type { Child } from './child.ts';
import { APPLIED, CHILD_KINDS, type ChildKind } from '../objects/child-object.ts';
import { editionOf } from './next-step.ts';
import { childName, type Placement, placementOf } from '../plan/placement.ts';
import { stateOfRollout, type WorkloadState } from './readiness.ts';
import { type Owned, reconcileAgent, type ReconcileDeps, removeChildren, type Trouble } from './reconcile-agent.ts';
import { renderAgent } from './render.ts';
import type { WorkloadSettings } from './settings.ts';
import { createRunnerKeys, type RunnerKeyView } from './runner-keys.ts';

export interface WorkloadsDeps {
  cluster: Pick<Cluster, 'children' | 'watch'>;
  /** Null without a runner image: then no pods are made. */
  settings: WorkloadSettings | null;
  /** Empty watches all. */
  namespaces: readonly string[];
  /** Asks every gateway for its key; null without the address of a gateway. */
  askKeys: (() => Promise<ReplicaViews<RunnerKeyView>>) | null;
  /** The answers of `stateOf` may have changed. */
  changed(): void;
  log: Log;
  metrics: Pick<Metrics, 'watchRestarts' | 'failures' | 'agentWrites'>;
  now(): number;
  random(): number;
}

/** The pods of agents, for the manager. */
export interface Workloads {
  /** Settles when the watches have ended. */
  watch(signal: AbortSignal): Promise<void>;
  /** Until the signal, this process applies what is wanted. */
  lead(signal: AbortSignal): void;
  want(verdicts: readonly Verdict[]): void;
  /** The objects of agents were listed once, or cannot be; before that Ready must not turn False. */
  known(): boolean;
  /** The part of Ready that the pods of an object decide; null where they decide nothing. */
  stateOf(object: CustomObject): WorkloadState | null;
  stop(): Promise<void>;
}

const AT_ONCE = 8;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** An account that may not list Deployments must not delay the status of other objects for longer. */
const FIRST_LOOK_MS = 10_000;

/** What this process remembers of one Agent: little, because there may be thousands. */
interface Memory extends Pick<Owned, 'editions'> {
  verdict: Verdict;
  /** Key of everything that `kind` and the wanted objects depend on. */
  key: string;
  kind: Placement['kind'];
  /** Hashes of the wanted objects when all of them were applied. */
  settled: { key: string; hashes: ReadonlyMap<ChildKind, string | undefined> } | null;
  trouble: Trouble;
  failures: number;
  until: number;
}

export function createWorkloads(deps: WorkloadsDeps): Workloads {
  const { cluster, settings, log, metrics, now } = deps;
  const stores = createChildStores(deps.namespaces);
  const reconciling: ReconcileDeps = {
    api: createChildApi(cluster),
    stores,
    wrote: (kind, ok) => metrics.agentWrites.inc({ kind, outcome: ok ? 'done' : 'failed' }),
  };
  const began = now();
  const memories = new Map<string, Memory>();
  const changed = () => {
    loop.mark();
    deps.changed();
  };
  const keys = createRunnerKeys(settings && deps.askKeys, changed);
  let leading: AbortSignal | null = null;

  const deploymentOf = (owner: CustomObject) =>
    stores.of('Deployment', owner.namespace).get(owner.namespace, childName(owner));
  const isLeading = () => leading !== null && !leading.aborted;
  const isUnchanged = ({ verdict: { object: owner }, settled, editions }: Memory): boolean =>
    CHILD_KINDS.every((kind) => {
      const child = stores.of(kind, owner.namespace).get(owner.namespace, childName(owner));
      const isOurs = child?.owner?.uid === owner.uid && child.applied === settled?.hashes.get(kind);
      return isOurs && editionOf(child) === editions.get(kind);
    });
  const settlePods = async (memory: Memory, inForce: WorkloadSettings): Promise<Trouble> => {
    const { verdict, editions } = memory;
    const key = [memory.key, ...keys.current()].join(' ');
    if (memory.settled?.key === key && isUnchanged(memory)) return null;
    const placement = placementOf(verdict);
    if (placement.kind !== 'pods') return null;
    const rendered = renderAgent(placement.agent, inForce, keys.current());
    if (!rendered.ok) return { reason: rendered.reason, message: rendered.message };
    const trouble = await reconcileAgent(reconciling, { owner: verdict.object, editions }, rendered.objects);
    const hashes = new Map(rendered.objects.map(({ kind, metadata }) => [kind, metadata.annotations[APPLIED]]));
    memory.settled = trouble ? null : { key, hashes };
    return trouble;
  };
  const settle = async (memory: Memory): Promise<Trouble> => {
    if (settings === null || memory.kind === 'unknown') return null;
    if (memory.kind === 'none') return removeChildren(reconciling, memory.verdict.object);
    return keys.current().length === 0 ? null : settlePods(memory, settings);
  };
  const settleOne = async (memory: Memory): Promise<boolean> => {
    const before = memory.trouble;
    memory.trouble = await settle(memory);
    memory.failures = memory.trouble ? memory.failures + 1 : 0;
    const pause = FIRST_PAUSE_MS * 2 ** Math.min(memory.failures - 1, 10) * (0.75 + deps.random() / 2);
    memory.until = memory.trouble ? now() + Math.min(MAX_PAUSE_MS, pause) : 0;
    const changed = canonicalJson(before) !== canonicalJson(memory.trouble);
    const { namespace, name } = memory.verdict.object;
    if (changed && memory.trouble)
      log.warn({ namespace, name, ...memory.trouble }, 'the objects of an agent could not be applied');
    return changed;
  };
  const loop = createDirtyLoop({
    run: async () => {
      if (!isLeading() || !stores.synced()) return;
      const due = [...memories.values()].filter(({ until }) => until <= now());
      let differs = false;
      for (let from = 0; from < due.length && isLeading(); from += AT_ONCE) {
        const settled = await Promise.all(due.slice(from, from + AT_ONCE).map(settleOne));
        differs ||= settled.includes(true);
      }
      if (differs) deps.changed();
      const next = Math.min(...[...memories.values()].flatMap(({ until }) => (until > 0 ? [until] : [])));
      loop.markIn(Number.isFinite(next) ? next - now() : null);
    },
    failed: (error) => {
      metrics.failures.inc({ loop: 'workloads' });
      log.warn({ err: error }, 'the objects of agents could not be reconciled; a retry follows');
    },
    random: deps.random,
  });

  return {
    watch: async (signal) => {
      if (settings === null) return;
      const watched = stores.scopes.map((scope) => ({
        ...scope,
        collection: childCollection(cluster, scope.kind, scope.namespace),
      }));
      await watchCollections({ cluster, changed, log, metrics }, watched, signal);
    },
    lead: (signal) => {
      leading = signal;
      loop.mark();
      void keys.keepAsking(signal);
    },
    want: (verdicts) => {
      const agents = verdicts.filter(({ object }) => object.kind === 'Agent');
      const present = new Set(agents.map(({ object }) => object.uid));
      for (const uid of memories.keys()) if (!present.has(uid)) memories.delete(uid);
      for (const verdict of agents) remember(verdict);
      loop.mark();
    },
    known: () => settings === null || stores.synced() || now() - began >= FIRST_LOOK_MS,
    stateOf: (object) => {
      const memory = memories.get(object.uid);
      if (settings === null || memory?.kind !== 'pods') return null;
      if (!stores.synced()) return NOT_SEEN;
      const { trouble } = memory;
      return trouble ? { status: 'False', ...trouble } : stateOfChild(deploymentOf(object), object, keys.current());
    },
    stop: loop.stop,
  };

  function remember(verdict: Verdict): void {
    const owner = verdict.object;
    const known = memories.get(owner.uid);
    const { served, lostName } = verdict;
    const key = [owner.generation, served?.hash, served?.from, lostName].join(' ');
    if (known?.key === key) {
      known.verdict = verdict;
      return;
    }
    const fresh = { editions: new Map(), settled: null, trouble: null, failures: 0 };
    const { kind } = placementOf(verdict);
    // A changed object is reconciled at once, without the rest of its pause.
    memories.set(owner.uid, { ...fresh, ...known, key, verdict, kind, until: 0 });
  }
}

function stateOfChild(child: Child | undefined, owner: CustomObject, publicKeys: readonly string[]): WorkloadState {
  if (child?.rollout && child.owner?.uid === owner.uid) return stateOfRollout(child.rollout);
  return publicKeys.length === 0
    ? NO_KEY
    : { status: 'False', reason: 'Starting', message: 'its pods are being created' };
}

const NOT_SEEN: WorkloadState = {
  status: 'Unknown',
  reason: 'NotObserved',
  message: 'the controller could not list Deployments, Services and NetworkPolicies yet; check its RBAC rights',
};
const NO_KEY: WorkloadState = {
  status: 'Unknown',
  reason: 'NoRunnerKey',
  message: 'no gateway has published a key for its pods to trust; set runtime.mode: kubernetes in the gateway',
};
