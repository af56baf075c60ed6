import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ReplicaViews } from '../observe/ask-replicas.ts';

/** The public key with which pods recognise a gateway. */
export interface RunnerKeyView {
  pod: string;
  /** PEM; null where the gateway runs all agents itself. */
  publicKey: string | null;
}

const RunnerKey = z.looseObject({ public_key: z.string().nullable() });

/** Reads `GET /runner-key` of the gateway; null where the answer has another form. */
export function readRunnerKey(pod: string, body: unknown): RunnerKeyView | null {
  const parsed = RunnerKey.safeParse(body);
  return parsed.success ? { pod, publicKey: parsed.data.public_key } : null;
}

/** The keys that pods trust. Those of a gateway that does not answer stay trusted: its restart must not roll every pod. */
export function mergeKeys(
  before: readonly string[],
  { replicas, failed }: ReplicaViews<RunnerKeyView>,
): readonly string[] {
  const current = replicas.flatMap(({ publicKey }) => publicKey ?? []);
  const kept = failed.length > 0 || replicas.length === 0 ? before : [];
  return [...new Set([...current, ...kept])].toSorted();
}

const ASK_MS = 10_000;
/** Until the first key is known: no pod can start without one. */
const HURRY_MS = 1000;

/** The keys that pods trust at present. */
export interface RunnerKeys {
  current(): readonly string[];
  /** Asks the gateways until the signal. */
  keepAsking(signal: AbortSignal): Promise<void>;
}

/** Without a way to ask there are no keys. */
export function createRunnerKeys(
  ask: (() => Promise<ReplicaViews<RunnerKeyView>>) | null,
  changed: () => void,
): RunnerKeys {
  let keys: readonly string[] = [];
  return {
    current: () => keys,
    keepAsking: async (signal) => {
      if (ask === null) return;
      while (!signal.aborted) {
        const next = mergeKeys(keys, await ask());
        const differs = next.join() !== keys.join();
        keys = next;
        if (differs) changed();
        await delay(keys.length === 0 ? HURRY_MS : ASK_MS, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}
