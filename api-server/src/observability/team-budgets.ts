import { monthOf, TEAM_SPEND } from '../runs/cost/cost.ts';
import type { Family } from './exposition.ts';
import type { StoredValue } from './stored-families.ts';

/** The share of its monthly budget (UTC) that each team has spent (Orchestration 6). A value over 1 has no effect on runs. */
export function teamBudgetRatio(
  stored: readonly StoredValue[],
  budgets: Readonly<Record<string, number>>,
  now: number,
): Family {
  const month = monthOf(now);
  const spent = new Map(
    stored.flatMap(({ metric, labels: [team = '', when], value }) =>
      metric === TEAM_SPEND && when === month ? [[team, value] as const] : [],
    ),
  );
  return {
    name: 'service_team_budget_ratio',
    help: 'Cost of the current month divided by the budget of the team',
    type: 'gauge',
    samples: Object.entries(budgets).map(([team, budget]) => ({
      labels: [['team', team]],
      value: (spent.get(team) ?? 0) / budget,
    })),
  };
}
