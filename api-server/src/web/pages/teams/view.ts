import type { TeamsUse } from '../../../service/views/analytics/statistics.ts';
import { count, money, percent } from '../format.ts';
import { amount, unpricedNote } from '../insights/figures.ts';
import { paths } from '../paths.ts';
import { portionOf } from '../portion.ts';
import type { StatusLook } from '../status.ts';
import { plural } from '../runs/row.ts';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAY_MS = 86_400_000;

type Team = TeamsUse['teams'][number];

/** Budgets warn only: none of these stops a run. */
const LOOKS: Record<'over' | 'ahead' | 'fine', StatusLook> = {
  over: { icon: 'alert', tone: 'bad', word: 'Over budget' },
  ahead: { icon: 'alert', tone: 'wait', word: 'Ahead of the month' },
  fine: { icon: 'check', tone: 'good', word: 'Within budget' },
};

const TEAMS_A_PAGE = 150;

/** The teams of a calendar month in UTC, with how much of it is over. */
export function teamsView({ month, currency, teams }: TeamsUse, now: number, page = 1) {
  const [year = '', number = ''] = month.split('-');
  const from = Date.parse(`${month}-01T00:00:00Z`);
  const until = Date.UTC(Number(year), Number(number), 1);
  const passed = Math.min(1, Math.max(0, (now - from) / (until - from)));
  const goTo = (other: number) => paths.teams({ page: other });
  const { rows, pager } = portionOf(teams, { page, size: TEAMS_A_PAGE, goTo });
  return {
    month: `${MONTHS[Number(number) - 1]} ${year}`,
    day: `day ${Math.floor((now - from) / DAY_MS) + 1} of ${Math.round((until - from) / DAY_MS)}`,
    count: plural(teams.filter(({ team }) => team !== null).length, 'team'),
    passed: Math.round(passed * 1000) / 10,
    budgets: teams.some(({ budget_used_ratio: ratio }) => ratio !== null),
    pager,
    rows: rows.map((team) => teamRow(team, { currency, passed, since: new Date(from).toISOString() })),
  };
}

interface At {
  currency: string;
  passed: number;
  since: string;
}

function teamRow(use: Team, { currency, passed, since }: At) {
  const { team, budget, budget_used_ratio: ratio } = use;
  const spent = { total: use.cost, unpriced_steps: use.unpriced_steps };
  return {
    name: team ?? 'No team',
    href: team === null ? null : paths.insights({ team, time_range: '30d' }),
    runsHref: paths.runs({ ...(team === null ? { teamless: 'true' } : { team }), stage: 'production', since }),
    runs: count(use.runs),
    tokens: amount(use.input_tokens + use.output_tokens),
    cost: use.cost === null ? '–' : money(use.cost, currency),
    costNote: unpricedNote({ cost: spent }),
    budget: budget === null ? '–' : money(budget, currency),
    use: ratio === null ? null : useOf(ratio, passed),
  };
}

const useOf = (ratio: number, passed: number) => ({
  look: LOOKS[ratio > 1 ? 'over' : ratio > passed ? 'ahead' : 'fine'],
  text: percent(ratio, ratio < 0.1 ? 1 : 0),
  width: Math.round(Math.min(1, ratio) * 1000) / 10,
});
