import type { LoadedPipeline } from '../definitions/snapshot.ts';
import type { TriggerContext } from '../runs/state/model.ts';
import type { CoverageKey, DedupWindow, DuplicateRun } from '../runs/state/records.ts';
import type { IntakeDeps, IntakeRequest } from './intake-deps.ts';
import type { Verdict } from './model.ts';

/** Which alert a run is for. */
export interface Choice {
  request: IntakeRequest;
  /** The run that suppresses it. */
  duplicate: DuplicateRun | null;
  /** Of each alert of the delivery in its order: the earlier run that covers it; null for what the new run takes over. */
  coveredBy: readonly (DuplicateRun | null)[];
  /** What the new run covers beside its own alert. */
  covers: Omit<CoverageKey, keyof DedupWindow>;
}

/** What intake decided about one request. */
export interface Decided extends Pick<Choice, 'coveredBy'> {
  verdict: Verdict;
  /** The alert that the verdict is about. */
  context: TriggerContext;
}

/** Why a delivery starts no run. */
export const covers = (runId: string | null, source: string): string =>
  `run ${runId} covers this ${source === 'alert_router' ? 'alert' : 'delivery'}`;

type CoverageDeps<Tx> = Pick<IntakeDeps<Tx>, 'dedup' | 'findDuplicate' | 'findCovering'>;

function windowOf({ dedup }: Pick<IntakeDeps<never>, 'dedup'>, { config }: LoadedPipeline, now: number): DedupWindow {
  const length = (config.trigger?.dedup?.window_seconds ?? dedup.windowSeconds) * 1000;
  return { since: now - length, until: now + length };
}

/** The run that suppresses a request which stands for one alert alone; `key` is its dedup key. */
export async function chooseAlone<Tx>(
  deps: CoverageDeps<Tx>,
  tx: Tx,
  { request, key, now }: { request: IntakeRequest; key: string | null; now: number },
): Promise<Choice> {
  const pipelineName = request.pipeline.name;
  const asked = { pipelineName, ...windowOf(deps, request.pipeline, now) };
  const duplicate = key === null ? null : await deps.findDuplicate(tx, { ...asked, dedupKey: key });
  return { request, duplicate, coveredBy: [duplicate], covers: { pipelineName, keys: [] } };
}

/**
 * Chooses the most severe alert that no running or recent run covers; where each has one, the delivery repeats what is
 * known. Runs cover alerts for the pipeline of the most severe one, and a run of an alert's own pipeline covers it too.
 */
export async function chooseUncovered<Tx>(
  deps: CoverageDeps<Tx>,
  tx: Tx,
  first: IntakeRequest,
  now: number,
): Promise<Choice> {
  const all = [first.context, ...(first.merged?.contexts ?? [])];
  const pipelineName = first.pipeline.name;
  // Every alert of a shared delivery has a fingerprint.
  const keys = all.map(({ fingerprint }) => fingerprint ?? '');
  const covering = await deps.findCovering(tx, { pipelineName, keys, ...windowOf(deps, first.pipeline, now) });
  const coveredBy = keys.map((key) => covering.get(key) ?? null);
  for (const [index, context] of all.entries()) {
    if (coveredBy[index]) continue;
    const request = requestFor(first, context);
    const key = context.fingerprint;
    const isOwn = request.pipeline.name !== pipelineName;
    if (isOwn) coveredBy[index] = (await chooseAlone(deps, tx, { request, key, now })).duplicate;
    if (coveredBy[index]) continue;
    const taken = keys.filter((one, at) => !coveredBy[at] && (isOwn || one !== key));
    return { request, duplicate: null, coveredBy, covers: { pipelineName, keys: taken } };
  }
  return { request: first, duplicate: coveredBy[0] ?? null, coveredBy, covers: { pipelineName, keys: [] } };
}

const requestFor = (first: IntakeRequest, context: TriggerContext): IntakeRequest =>
  context === first.context || !first.merged ? first : first.merged.requestFor(context);
