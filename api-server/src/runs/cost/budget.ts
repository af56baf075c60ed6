import type { ActiveRun, Spent } from '../state/active-run.ts';

/** What a run and all its sub-runs have spent. */
export const spentWithBelow = ({ totals, below }: Pick<ActiveRun, 'totals' | 'below'>): Spent => ({
  tokens: totals.inputTokens + totals.outputTokens + below.tokens,
  cost: (totals.cost ?? 0) + below.cost,
});

/** Why the run may not spend any more; null while it may. A sub-run may spend what is left of every run above it. */
export function overBudget(run: ActiveRun): string | null {
  for (let one: ActiveRun | null = run; one !== null; one = one.parent) {
    const why = overOwn(
      one,
      one === run ? "the run's budget" : `the budget of run ${one.id}, which this run belongs to,`,
    );
    if (why !== null) return why;
  }
  return null;
}

function overOwn(run: ActiveRun, whose: string): string | null {
  const { max_tokens: maxTokens = Infinity, max_cost: maxCost = Infinity } = run.pipeline.budget ?? {};
  const { tokens, cost } = spentWithBelow(run);
  if (tokens >= maxTokens) return `${whose} of ${maxTokens} tokens is spent (${tokens} used)`;
  return cost < maxCost ? null : `${whose} of ${maxCost} is spent (${shown(cost)} used)`;
}

/** Sums of small prices are not exact; six digits are. */
const shown = (cost: number): string => String(Number(cost.toFixed(6)));
