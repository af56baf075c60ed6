import type { ReplayReport } from '../../../service/views/replay.ts';

type Bin = ReplayReport['confidence_distribution'][number];

const WIDTH = 320;
const HEIGHT = 96;
const LEFT = 4;

/** Two bars a bin: how sure the recorded answers were, and those of the candidate. Null without any confidence. */
export function confidenceChart(bins: readonly Bin[]) {
  const most = Math.max(...bins.flatMap((bin) => [bin.recorded_n, bin.candidate_n]), 0);
  if (most === 0) return null;
  const step = (WIDTH - 2 * LEFT) / bins.length;
  const bar = Math.max(2, step / 2 - 2);
  const place = (n: number, x: number) => {
    const height = Math.round((n / most) * (HEIGHT - 16));
    return { x: x.toFixed(1), y: String(HEIGHT - height), width: bar.toFixed(1), height: String(height) };
  };
  return {
    title: `Confidence of the recorded answers and of the candidate's, ${bins.length} bins`,
    bins: bins.map((bin, at) => ({
      title: `${range(bin)}: ${bin.recorded_n} recorded, ${bin.candidate_n} of the candidate`,
      recorded: place(bin.recorded_n, LEFT + at * step),
      candidate: place(bin.candidate_n, LEFT + at * step + bar + 1),
    })),
    rows: bins
      .filter((bin) => bin.recorded_n + bin.candidate_n > 0)
      .map((bin) => ({ range: range(bin), recorded: String(bin.recorded_n), candidate: String(bin.candidate_n) })),
  };
}

const range = ({ lo, hi }: Bin): string => `${lo.toFixed(2)} to ${hi.toFixed(2)}`;
