import type { TrendDay } from '../../../service/views/analytics/statistics.ts';
import { count, money } from '../format.ts';
import { scaleTop } from '../insights/chart.ts';
import { paths } from '../paths.ts';

const DAY_MS = 86_400_000;
/** Days that are shown at least. */
const FEWEST = 7;
const HEIGHT = 40;
const STEP = 10;
/** Minimum height of a bar that is not zero. */
const LEAST = 1.5;

interface Measure {
  id: string;
  label: string;
  look: 'first' | 'escalated' | 'second';
  of(day: TrendDay): number | null;
  text(value: number): string;
  /** The runs behind a bar, besides its day. */
  query: Record<string, string>;
}

/** Runs, escalations and cost by day, from the first day that had a run; empty where none had. */
export function trendView(days: readonly TrendDay[], currency: string) {
  const first = days.findIndex(({ runs }) => runs > 0);
  if (first === -1) return [];
  const shown = days.slice(Math.min(first, days.length - FEWEST));
  const measures: Measure[] = [
    { id: 'runs', label: 'Runs', look: 'first', of: ({ runs }) => runs, text: count, query: {} },
    {
      id: 'escalated',
      label: 'Escalated',
      look: 'escalated',
      of: ({ escalated }) => escalated,
      text: count,
      query: { status: 'escalated' },
    },
    {
      id: 'cost',
      label: 'Cost',
      look: 'second',
      of: ({ cost }) => cost,
      text: (value) => money(value, currency),
      query: {},
    },
  ];
  return measures.map((measure) => cardOf(measure, shown));
}

function cardOf({ id, label, look, of, text, query }: Measure, days: readonly TrendDay[]) {
  const values = days.map((day) => of(day) ?? 0);
  const total = values.reduce((sum, value) => sum + value, 0);
  const isPriced = days.some((day) => of(day) !== null);
  const top = scaleTop(Math.max(...values));
  return {
    id,
    label,
    look,
    figure: isPriced ? text(total) : '–',
    note: isPriced ? `in ${days.length} days, today ${text(values.at(-1) ?? 0)}` : 'nothing has a price',
    desc: `${label} by day, ${days.map((day, at) => `${dayOf(day)}: ${text(values[at] ?? 0)}`).join(', ')}`,
    width: days.length * STEP,
    bars: days.map((day, at) => {
      const value = values[at] ?? 0;
      const height = value === 0 ? 0 : Math.max(LEAST, (value / top) * HEIGHT);
      return {
        x: at * STEP,
        barX: at * STEP + 1,
        y: round(HEIGHT - height),
        height: round(height),
        title: `${dayOf(day)}: ${text(value)}`,
        href: paths.runs({ since: iso(day.from), until: iso(day.from + DAY_MS), ...query }),
      };
    }),
  };
}

const iso = (at: number): string => new Date(at).toISOString();
const dayOf = ({ from }: TrendDay): string => iso(from).slice(0, 10);
const round = (value: number): number => Math.round(value * 100) / 100;
