import { type BinView as Bin, isOverconfident } from '../../../service/views/analytics/calibration.ts';
import { percent } from '../format.ts';

/** The plot area in SVG units: confidence on x, share of correct answers on y. */
const PLOT = { left: 36, top: 12, width: 272, height: 168 };
/** More bins than this have no room for a number under each. */
const MOST_COUNTS = 12;

const x = (confidence: number): number => round(PLOT.left + confidence * PLOT.width);
const y = (share: number): number => round(PLOT.top + (1 - share) * PLOT.height);
const round = (n: number): number => Math.round(n * 10) / 10;

/** A reliability diagram: a bar for each bin with marks, solid where validated, and the diagonal of perfect calibration. */
export function diagram(bins: readonly Bin[]) {
  const filled = bins.filter(({ n }) => n > 0);
  const { left, top, width, height } = PLOT;
  return {
    plot: {
      left,
      top,
      edge: left - 6,
      right: left + width,
      bottom: top + height,
      middle: left + width / 2,
      labels: top + height + 28,
    },
    bars: filled.map((bin) => bar(bin, bins.length)),
    ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => ({ y: y(share), text: `${share * 100}` })),
    marks: [0, 0.5, 1].map((confidence) => ({ x: x(confidence), y: top + height + 14, text: confidence.toFixed(1) })),
    counts: bins.length <= MOST_COUNTS,
    title: `Share that was correct by confidence: ${filled.map(sentence).join('; ') || 'nothing is marked'}.`,
    rows: filled.map(row),
  };
}

function bar(bin: Bin, bins: number) {
  const share = bin.mean_label ?? 0;
  const [from, to] = [x(bin.lo), x(bin.hi)];
  const inset = bins <= MOST_COUNTS ? 2 : 0;
  // A share of zero is drawn as a thin line, so that it is visible.
  const above = Math.min(y(share), y(0) - 2);
  return {
    x: round(from + inset),
    width: round(Math.max(1, to - from - 2 * inset)),
    y: above,
    height: round(y(0) - above),
    middle: round((from + to) / 2),
    countY: round(above - 4),
    n: bin.n,
    look: bin.validated ? (isOverconfident(bin) ? 'over' : 'sure') : 'thin',
    title: sentence(bin),
  };
}

const range = ({ lo, hi }: Bin): string => `${short(lo)} to ${short(hi)}`;
const short = (n: number): string => String(Number(n.toFixed(3)));
const sentence = (bin: Bin): string =>
  `${range(bin)}: ${percent(bin.mean_label ?? 0, 0)} of ${bin.n}${bin.validated ? '' : ', too few to count'}`;

const row = (bin: Bin) => ({
  range: range(bin),
  said: (bin.mean_confidence ?? 0).toFixed(2),
  share: percent(bin.mean_label ?? 0, 0),
  n: bin.n,
  validated: bin.validated,
});
