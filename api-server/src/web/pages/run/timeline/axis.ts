import { duration } from '../../format.ts';

export interface Span {
  from: number;
  to: number;
}

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(3)}%`;

/** What is shorter is drawn this wide, as a share of the axis. */
const THINNEST = 1 / 400;

/** Whether some of it can be seen on the axis. */
export const isOn = ({ from, to }: Span, axis: Span): boolean => to > axis.from && from < axis.to;

/** Where a stretch of time lies on the axis; what lies outside is cut. */
export function placeOf(span: Span, axis: Span) {
  const total = axis.to - axis.from;
  const from = Math.min(Math.max(span.from, axis.from), axis.to) - axis.from;
  const width = Math.max(Math.min(span.to, axis.to) - axis.from - from, total * THINNEST);
  return { x: percent(Math.min(from, total - width), total), width: percent(width, total) };
}

const STEPS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200,
  86_400,
];

/** At most six round marks on the time axis. */
export function ticksOf({ from, to }: Span) {
  const seconds = (to - from) / 1000;
  const step = STEPS.find((candidate) => seconds / candidate <= 5) ?? seconds / 5;
  const count = Math.floor(seconds / step);
  return Array.from({ length: count + 1 }, (_, i) => ({
    x: percent(i * step, seconds),
    label: i === 0 ? '0' : duration(i * step).replace('.0 s', ' s'),
  }));
}
