import { byTeam, sortedTeams, type TeamSums } from './by-team.ts';
import { costOf, sumOf, tokensOf } from './money.ts';
import { tidy } from './tidy.ts';

/** What each team used, by name, those with a budget too, runs without a team last; a ratio over 1 has no effect on runs. */
export function teamsUse(sums: TeamSums, budgets: Readonly<Record<string, number>>, currency: string) {
  const { names, of } = byTeam(sums);
  return sortedTeams(new Set([...names, ...Object.keys(budgets)])).map((team) => {
    const own = of(team);
    const { total: cost, unpriced_steps } = costOf(own.steps, currency);
    const { input, output } = tokensOf(own.steps);
    const budget = team === null ? null : (budgets[team] ?? null);
    return tidy({
      team,
      runs: sumOf(own.runs, (sum) => sum.runs),
      cost,
      unpriced_steps,
      input_tokens: input,
      output_tokens: output,
      budget,
      budget_used_ratio: budget === null ? null : (cost ?? 0) / budget,
    });
  });
}
