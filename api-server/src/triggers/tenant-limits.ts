import type { LoadedPipeline } from '../definitions/snapshot.ts';

/** What the runs of a namespace take, as the store has it; the counts hold until the transaction ends. */
export interface TenantLoad<Tx> {
  activeRuns(tx: Tx, namespace: string): Promise<number>;
  tokensSince(tx: Tx, namespace: string, at: number): Promise<number>;
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
  if (maxTokens !== undefined && (await load.tokensSince(tx, namespace, monthOf(now))) >= maxTokens)
    return `namespace "${namespace}" has spent its ${maxTokens} tokens of this month (max_tokens_month of tenancy.namespaces)`;
  return null;
}

/** The first moment of the calendar month in UTC, in milliseconds. */
function monthOf(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}
