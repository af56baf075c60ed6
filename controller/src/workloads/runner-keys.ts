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
