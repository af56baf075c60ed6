import type { Point } from '../../../service/views/analytics/statistics.ts';

export interface Segment {
  /** Label in the legend and in the table. */
  label: string;
  /** Colour class. */
  look: 'good' | 'bad' | 'escalated' | 'wait' | 'quiet' | 'first' | 'second';
  value: number;
}

export interface ChartInput {
  id: string;
  title: string;
  figure: string;
  note: string | null;
  points: readonly Point[];
  segments(point: Point): Segment[];
  /** A value as text; for the scale, the titles and the table. */
  text(value: number): string;
  href(point: Point): string;
  when(point: Point): string;
  none: string;
}

/** Units of the drawing, which is stretched to the width of its card. */
const STEP = 10;
const HEIGHT = 100;
const BAR = 7;
/** Minimum height of a bar that is not zero. */
const LEAST = 1.5;

/** Round numbers that a scale may end at. */
const ROUND = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];

/** The smallest round number that is not below `value`. */
export function scaleTop(value: number): number {
  if (value <= 0) return 1;
  const size = 10 ** Math.floor(Math.log10(value));
  return (ROUND.find((step) => step * size >= value * (1 - 1e-9)) ?? 10) * size;
}

const totalOf = (segments: readonly Segment[]): number => segments.reduce((total, { value }) => total + value, 0);

/** A chart of stacked bars over time: its drawing, its legend and the same as a table. */
export function chart(input: ChartInput) {
  const columns = input.points.map((point) => ({ point, segments: input.segments(point) }));
  const most = Math.max(0, ...columns.map(({ segments }) => totalOf(segments)));
  const top = scaleTop(most);
  const [first, last] = [input.points[0], input.points.at(-1)];
  const legend = (columns[0]?.segments ?? []).map(({ label, look }) => ({ label, look }));
  return {
    id: input.id,
    title: input.title,
    figure: input.figure,
    note: input.note,
    empty: most === 0 ? input.none : null,
    desc: `${input.title}, ${columns.length} bars from ${first ? input.when(first) : ''} to ${last ? input.when(last) : ''}; the highest is ${input.text(most)}. The table below has the numbers.`,
    top: input.text(top),
    width: columns.length * STEP,
    height: HEIGHT,
    legend: legend.length > 1 ? legend : [],
    axis: first && last ? { first: input.when(first), last: input.when(last) } : null,
    bars: columns.map(({ point, segments }, at) => bar(input, { point, segments, at, top })),
    head: legend.map(({ label }) => label),
    rows: columns
      .filter(({ segments }) => totalOf(segments) > 0)
      .map(({ point, segments }) => ({
        when: input.when(point),
        href: input.href(point),
        values: segments.map(({ value }) => input.text(value)),
      })),
  };
}

interface Column {
  point: Point;
  segments: Segment[];
  at: number;
  top: number;
}

function bar(input: ChartInput, { point, segments, at, top }: Column) {
  let below = 0;
  const parts = segments
    .filter(({ value }) => value > 0)
    .map(({ value, look }) => {
      const height = Math.max(LEAST, (value / top) * HEIGHT);
      below += height;
      return { look, y: round(HEIGHT - below), height: round(height) };
    });
  const values = segments.map(({ label, value }) => `${label} ${input.text(value)}`).join(', ');
  return {
    x: at * STEP,
    hit: STEP,
    barX: at * STEP + (STEP - BAR) / 2,
    barWidth: BAR,
    parts,
    href: parts.length > 0 ? input.href(point) : null,
    title: `${input.when(point)}: ${values}`,
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;
