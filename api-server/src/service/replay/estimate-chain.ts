import { estimate } from '../../analytics/replay/estimate.ts';
import { chainCalls } from '../../store/aggregates/replay-basis.ts';
import { type ReplayChainEstimate, replayChainEstimate } from '../views/replay-estimate.ts';
import { candidateModel, type EstimateDeps } from './estimate.ts';
import { type AskedChain, planChain } from './plan-chain.ts';

/** What a launch of a range would cost, from what its steps used in the recorded runs; asks no model and creates no run. */
export async function estimateChain(deps: EstimateDeps, asked: AskedChain): Promise<ReplayChainEstimate> {
  const { replay, samples } = await planChain(deps, asked);
  const db = deps.database.reader(asked.signal);
  const runIds = samples.flatMap(({ sourceRunId }) => sourceRunId ?? []);
  const calls = Map.groupBy(await chainCalls(db, { runIds, stepNames: replay.asked }), ({ stepName }) => stepName);
  const steps = replay.asked.map(async (stepName) => {
    const past = calls.get(stepName) ?? [];
    const used = past[0] ?? { provider: null, model: null };
    const model = await candidateModel(db, { used, candidate: replay.candidate[stepName] ?? {} });
    return { stepName, ...estimate(deps.priceOf, { count: samples.length, model, past }) };
  });
  return replayChainEstimate(samples.length, await Promise.all(steps));
}
