import { costOf, sumOf, tokensOf } from './money.ts';
import type { RunSum, StepSum } from './sums.ts';
import { tidy } from './tidy.ts';

interface TeamFacts {
  runs: readonly RunSum[];
  steps: readonly StepSum[];
}

/** What each team used, by name, those with a budget too, runs without a team last; a ratio over 1 has no effect on runs. */
export function teamsUse({ runs, steps }: TeamFacts, budgets: Readonly<Record<string, number>>, currency: string) {
  const names = new Set([...runs, ...steps].map(({ team }) => team));
  const named = [...names].filter((team) => team !== null);
  const sorted = [...new Set([...named, ...Object.keys(budgets)])].toSorted();
  return [...sorted, ...(names.has(null) ? [null] : [])].map((team) => {
    const own = steps.filter((step) => step.team === team);
    const { total: cost, unpriced_steps } = costOf(own, currency);
    const { input, output } = tokensOf(own);
    const budget = team === null ? null : (budgets[team] ?? null);
    return tidy({
      team,
      runs: sumOf(runs, (run) => (run.team === team ? run.runs : 0)),
      cost,
      unpriced_steps,
      input_tokens: input,
      output_tokens: output,
      budget,
      budget_used_ratio: budget === null ? null : (cost ?? 0) / budget,
    });
  });
}
