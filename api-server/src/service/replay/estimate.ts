import { estimate } from '../../analytics/replay/estimate.ts';
import type { Priced } from '../../analytics/replay/estimate.ts';
import type { PriceOf } from '../../runs/cost/cost.ts';
import type { Candidate } from '../../runs/state/replay.ts';
import { judgeCalls, usedModel } from '../../store/aggregates/replay-basis.ts';
import { type ReplayEstimate, replayEstimate } from '../views/replay-estimate.ts';
import { type Asked, type ChooseDeps, chooseSamples, type Chosen } from './launch-step.ts';
import { checkMode, checkTemplate } from './plan-step.ts';

export interface EstimateDeps extends ChooseDeps {
  priceOf: PriceOf;
}

/** What a launch of this body would cost, from what was recorded; asks no model and creates no run (Orchestration 4.6). */
export async function estimateStep(deps: EstimateDeps, asked: Asked): Promise<ReplayEstimate> {
  const chosen = await chooseSamples(deps, asked);
  checkTemplate(deps.templates, chosen.request.candidate, ['body', 'candidate', 'prompt_template']);
  checkMode(chosen.request);
  const { samples } = chosen;
  const { used, request } = chosen;
  const model = await candidateModel(deps.database.reader(asked.signal), { used, candidate: request.candidate });
  return replayEstimate({
    sampleCount: samples.length,
    candidate: estimate(deps.priceOf, { count: samples.length, model, past: samples }),
    judge: await judgeEstimate(deps, chosen, asked.signal),
  });
}

/** The model that would answer: as the candidate says, else as its agent last did, else as recorded. */
export async function candidateModel(
  db: ReturnType<ChooseDeps['database']['reader']>,
  { used, candidate: { model, agent } }: { used: Priced; candidate: Candidate },
): Promise<Priced> {
  if (model === undefined && agent === undefined) return used;
  const [prefix, ...rest] = model?.split('/') ?? [];
  const known = await usedModel(db, { agent, model });
  if (known) return known;
  if (prefix && rest.length > 0) return { provider: prefix, model: rest.join('/') };
  return { provider: used.provider, model: model ?? null };
}

async function judgeEstimate(
  { replaySettings: { judge }, database, priceOf }: EstimateDeps,
  { samples }: Chosen,
  signal: AbortSignal,
) {
  if (!judge) return null;
  const eligible = samples.filter(({ outcome }) => outcome === 'correct').length;
  const past = await judgeCalls(database.reader(signal), judge.agent);
  const model = past[0] ?? { provider: null, model: null };
  return { eligible, ...estimate(priceOf, { count: eligible, model, past }) };
}
