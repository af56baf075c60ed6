import { monthOf, TEAM_SPEND } from '../runs/state/cost.ts';
import type { Family } from './exposition.ts';
import type { StoredValue } from './stored-families.ts';

/** What each team with a budget has spent of it this month, UTC (Orchestration 6); nothing stops at 1. */
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
    help: 'Spending of the month over the budget of the team',
    type: 'gauge',
    samples: Object.entries(budgets).map(([team, budget]) => ({
      labels: [['team', team]],
      value: ratio(spent.get(team) ?? 0, budget),
    })),
  };
}

/** A budget of nothing is spent as soon as anything is. */
const ratio = (spent: number, budget: number): number => (spent === 0 ? 0 : spent / budget);
