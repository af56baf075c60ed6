import { monthOf } from '../runs/cost/cost.ts';
import type { Family } from './exposition.ts';

/** The share of its monthly budget (UTC) that each team has spent (Orchestration 6); `spending` is by the JSON of team and month. A value over 1 has no effect on runs. */
export function teamBudgetRatio(
  spending: ReadonlyMap<string, number>,
  budgets: Readonly<Record<string, number>>,
  now: number,
): Family {
  const month = monthOf(now);
  const spentBy = (team: string) => spending.get(JSON.stringify([team, month])) ?? 0;
  return {
    name: 'service_team_budget_ratio',
    help: 'Cost of the current month divided by the budget of the team',
    type: 'gauge',
    samples: Object.entries(budgets).map(([team, budget]) => ({
      labels: [['team', team]],
      value: spentBy(team) / budget,
    })),
  };
}
