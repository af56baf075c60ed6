import type { Figures, Insights, Point } from '../../../service/views/analytics/statistics.ts';
import type { StatisticsQuery } from '../../../service/statistics/statistics.ts';
import { count, duration, money, percent } from '../format.ts';
import { paths } from '../paths.ts';
import { chart, type ChartInput } from './chart.ts';
import { accuracyOf, amount, cost, labelsText, unpricedNote, waitingNote } from './figures.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const pad = (n: number): string => String(n).padStart(2, '0');
const HOUR_MS = 3_600_000;

/** When a bar begins, in UTC, as exactly as the bars are wide: `14:00`, `Nov 21 06:00`, `Nov 21`. */
export function whenOf({ from }: Point, bucketMs: number): string {
  const time = new Date(from);
  const day = `${MONTHS[time.getUTCMonth()]} ${time.getUTCDate()}`;
  if (bucketMs >= 24 * HOUR_MS) return day;
  return `${day} ${pad(time.getUTCHours())}:${pad(time.getUTCMinutes())}`;
}

const iso = (at: number): string => new Date(at).toISOString();

/** The runs that were triggered while a bar lasts. */
export const runsOf = ({ from, to }: Point, { stage }: StatisticsQuery, more: Record<string, string> = {}): string =>
  paths.runs({ ...(stage === 'all' ? {} : { stage }), since: iso(from), until: iso(to), ...more });

const NOT_COMPLETED = ['stopped', 'aborted', 'failed'];

function outcomes({ figures }: Point) {
  const { completed = 0, escalated = 0 } = figures.status_counts;
  const other = NOT_COMPLETED.reduce((total, status) => total + (figures.status_counts[status] ?? 0), 0);
  return { completed, escalated, other, rest: figures.runs_total - completed - escalated - other };
}

const durationNote = (figures: Figures): string | null =>
  figures.duration_seconds.p95 === null
    ? null
    : (waitingNote(figures) ?? `95th percentile; mean ${duration(figures.duration_seconds.avg)}`);

const accuracyNote = (figures: Figures): string | null => (figures.accuracy.total === 0 ? null : labelsText(figures));

/** Width of the bars in milliseconds; the first and the last may be shorter. */
const widthOf = (points: readonly Point[]): number =>
  Math.max(0, ...points.slice(0, 3).map(({ from, to }) => to - from));

/** Bars that a chart has at least, where its time range has them. */
const FEWEST = 8;

/** What nothing has happened in yet is left out, but for one bar: a chart shows the time that it has data of. */
function withoutEmptyBegin(points: readonly Point[]): readonly Point[] {
  const first = points.findIndex(({ figures }) => figures.runs_total > 0);
  return first === -1 ? points : points.slice(Math.max(0, Math.min(first - 1, points.length - FEWEST)));
}

/** The charts of the page: success, cost, tokens, latency and accuracy over time. */
export function charts({ now, points }: Insights, query: StatisticsQuery) {
  const { currency } = now.cost;
  const width = widthOf(points);
  const shared = {
    points: withoutEmptyBegin(points),
    when: (point: Point) => whenOf(point, width),
    href: (point: Point) => runsOf(point, query),
    none: 'No data in this time range. Choose a longer one.',
  };
  const all: Omit<ChartInput, keyof typeof shared>[] = [
    {
      id: 'success',
      title: 'Success',
      figure: percent(now.success_rate),
      note: 'completed, of runs that ended and were not cancelled',
      text: count,
      segments: (point) => {
        const { completed, escalated, other, rest } = outcomes(point);
        return [
          { label: 'completed', look: 'good', value: completed },
          { label: 'escalated', look: 'escalated', value: escalated },
          { label: 'failed or stopped', look: 'bad', value: other },
          { label: 'cancelled or active', look: 'quiet', value: rest },
        ];
      },
    },
    {
      id: 'cost',
      title: 'Cost',
      figure: cost(now),
      note: unpricedNote(now),
      text: (value) => money(value, currency),
      segments: ({ figures }) => [{ label: 'cost', look: 'first', value: figures.cost.total ?? 0 }],
    },
    {
      id: 'tokens',
      title: 'Tokens',
      figure: amount(now.tokens.total),
      note: null,
      text: amount,
      segments: ({ figures }) => [
        { label: 'input', look: 'first', value: figures.tokens.input },
        { label: 'output', look: 'second', value: figures.tokens.output },
      ],
    },
    {
      id: 'latency',
      title: 'Machine time of runs',
      figure: duration(now.duration_seconds.machine_p95),
      note: durationNote(now),
      text: duration,
      segments: ({ figures: { duration_seconds: took } }) => [
        { label: 'p95', look: 'first', value: took.machine_p95 ?? 0 },
      ],
    },
    {
      id: 'accuracy',
      title: 'Accuracy',
      figure: percent(accuracyOf(now)),
      note: accuracyNote(now),
      text: count,
      segments: ({ figures: { accuracy } }) => [
        { label: 'correct', look: 'good', value: accuracy.correct },
        { label: 'partial', look: 'wait', value: accuracy.partial },
        { label: 'incorrect', look: 'bad', value: accuracy.incorrect },
      ],
    },
  ];
  const nones: Record<string, string> = {
    cost: 'No run has a price. Set prices under pricing in the configuration of the api-server.',
    accuracy:
      'No run has a label. Mark runs or their steps as correct, partial or incorrect on their pages, or on the page Marking.',
  };
  return all.map((input) => chart({ ...shared, ...input, none: nones[input.id] ?? shared.none }));
}
