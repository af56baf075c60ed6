import type { ActiveRun } from './active-run.ts';

/** Why the run may not spend any more; null while it may. */
export function overBudget({ pipeline, totals }: ActiveRun): string | null {
  const { max_tokens: maxTokens = Infinity, max_cost: maxCost = Infinity } = pipeline.budget ?? {};
  const used = totals.inputTokens + totals.outputTokens;
  if (used >= maxTokens) return `the run's budget of ${maxTokens} tokens is spent (${used} used)`;
  const cost = totals.cost ?? 0;
  return cost < maxCost ? null : `the run's budget of ${maxCost} is spent (${shown(cost)} used)`;
}

/** Sums of small prices are not exact; six digits are. */
const shown = (cost: number): string => String(Number(cost.toFixed(6)));
