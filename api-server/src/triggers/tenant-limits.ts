import type { LoadedPipeline } from '../definitions/snapshot.ts';
import { monthOf } from '../runs/cost/cost.ts';

/** What the runs of a namespace take, as the store has it; the counts hold until the transaction ends. */
export interface TenantLoad<Tx> {
  activeRuns(tx: Tx, namespace: string): Promise<number>;
  /** Of a month such as `2026-11`. */
  tokensIn(tx: Tx, namespace: string, month: string): Promise<number>;
}

/** Why the namespace of a pipeline may start no run now, or null. `also` counts runs that the same transaction starts. */
export async function overTenantLimit<Tx>(
  load: TenantLoad<Tx> | undefined,
  tx: Tx,
  { standing }: Pick<LoadedPipeline, 'standing'>,
  { now, also }: { now: number; also: number },
): Promise<string | null> {
  const { namespace, tenant } = standing;
  if (load === undefined || tenant === null || namespace === null) return null;
  const { max_runs: maxRuns, max_tokens_month: maxTokens } = tenant;
  if (maxRuns !== undefined && (await load.activeRuns(tx, namespace)) + also >= maxRuns)
    return `namespace "${namespace}" may have ${maxRuns} active runs (max_runs of tenancy.namespaces); try again later`;
  if (maxTokens !== undefined && (await load.tokensIn(tx, namespace, monthOf(now))) >= maxTokens)
    return `namespace "${namespace}" has spent its ${maxTokens} tokens of this month (max_tokens_month of tenancy.namespaces)`;
  return null;
}
