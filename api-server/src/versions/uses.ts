import { LRUCache } from 'lru-cache';
import { family, keyName } from '../runs/state/hourly.ts';
import type { StepExecution } from '../runs/state/model.ts';

/** Which step used which edition of its prompt and its agent; empty where there is none. Times in milliseconds. */
export interface VersionUse {
  /** Branches of a fan-out under the name before the slash. */
  step_name: string;
  prompt_hash: string;
  executor: string;
  agent: string;
  agent_version: string;
  first_seen_at: number;
  last_seen_at: number;
}

/** The part of an ended step that names its editions. */
export type UsedBy = Pick<
  StepExecution,
  'stepName' | 'promptHash' | 'executor' | 'agent' | 'agentVersion' | 'startedAt'
>;

export interface UsesDeps {
  /** Adds to what is stored; may be called with the same twice. */
  store(uses: readonly VersionUse[]): Promise<void>;
  /** After uses were stored. */
  stored(uses: readonly VersionUse[]): void;
  log: { warn(fields: object, message: string): void };
}

export interface Uses {
  /** Costs nothing but memory: what is new is stored soon, what is known from time to time. */
  note(step: UsedBy): void;
  /** Stores what was noted so far; before a read and before the end of the process. */
  flush(): Promise<void>;
}

/** How far `last_seen_at` may lie behind between two reads. */
const EVERY_MS = 60_000;
/** Editions remembered at most, and noted while the database refuses; one that is forgotten is stored once more. */
const MAX_KNOWN = 5_000;

/** Notes in memory which editions are in use, and stores it beside the runs, so that no step ever waits for it. */
export function createUses({ store, stored, log }: UsesDeps): Uses {
  /** By edition: when the last use that is stored began. */
  const known = new LRUCache<string, number>({ max: MAX_KNOWN });
  const noted = new Map<string, VersionUse>();
  let storing: Promise<void> | null = null;

  const storeOnce = async (): Promise<void> => {
    const batch = [...noted].toSorted(([a], [b]) => (a < b ? -1 : 1));
    if (batch.length === 0) return;
    noted.clear();
    try {
      await store(batch.map(([, use]) => use));
    } catch (error) {
      for (const [key, use] of batch) noted.set(key, join(noted.get(key), use));
      throw error;
    }
    for (const [key, use] of batch) known.set(key, use.last_seen_at);
    stored(batch.map(([, use]) => use));
  };
  /** Together with whatever else is noted in this turn. */
  const start = () =>
    (storing ??= Promise.resolve()
      .then(storeOnce)
      .finally(() => (storing = null)));
  const flush = async (): Promise<void> => {
    // What was noted after a transaction began is not in it.
    await storing?.catch(() => undefined);
    return start();
  };
  const soon = () => {
    if (storing) return;
    const message = 'editions in use could not be stored; the next step tries again';
    start().catch((error: unknown) => log.warn({ err: error }, message));
  };
  return {
    note: (step) => {
      if (step.promptHash === null && step.agentVersion === null) return;
      const use = useOf(step);
      const key = keyOf(use);
      if (noted.size >= MAX_KNOWN && !noted.has(key)) return;
      noted.set(key, join(noted.get(key), use));
      const last = known.get(key);
      if (last === undefined || use.last_seen_at - last >= EVERY_MS) soon();
    },
    flush,
  };
}

const keyOf = ({ step_name, prompt_hash, executor, agent, agent_version }: VersionUse): string =>
  JSON.stringify([step_name, prompt_hash, executor, agent, agent_version]);

const useOf = ({ stepName, promptHash, executor, agent, agentVersion, startedAt }: UsedBy): VersionUse => ({
  step_name: family(stepName),
  prompt_hash: promptHash ?? '',
  executor,
  agent: keyName('agent', agent),
  // Only the gateway's versions are editions that can be read; what another backend calls a version may differ every time.
  agent_version: executor === 'gateway' ? keyName('provider', agentVersion) : '',
  first_seen_at: startedAt,
  last_seen_at: startedAt,
});

const join = (a: VersionUse | undefined, b: VersionUse): VersionUse => ({
  ...b,
  first_seen_at: Math.min(a?.first_seen_at ?? b.first_seen_at, b.first_seen_at),
  last_seen_at: Math.max(a?.last_seen_at ?? b.last_seen_at, b.last_seen_at),
});
