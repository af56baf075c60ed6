import type { ActiveRun } from './active-run.ts';

/** Why the run may not spend any more; null while it may (Design 3, "Statuses"). */
export function overBudget({ pipeline, totals }: ActiveRun): string | null {
  const max = pipeline.budget?.max_tokens;
  const used = totals.inputTokens + totals.outputTokens;
  if (max === undefined || used < max) return null;
  return `the run's budget of ${max} tokens is spent (${used} used)`;
}
