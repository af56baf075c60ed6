import type { GatewayProcess, LoadGenerator, StartTarget } from './services.ts';

/** What a benchmark may use; processes it starts itself it also stops. */
export interface BenchContext {
  /** How long one round of steady load takes. */
  seconds: number;
  /** Rounds of each side; medians are taken over them. */
  rounds: number;
  /** An empty directory for this benchmark. */
  directory: string;
  gateway: GatewayProcess;
  /** Starts what is measured: the api-server, or the bare server itself to show the noise of this machine. */
  startService: StartTarget;
  load: LoadGenerator;
  progress: (text: string) => void;
}

/** The limit of a figure: at least or at most `bound`; `aim` is the target. */
export interface Limit {
  direction: 'least' | 'most' | 'exactly';
  bound: number;
  aim?: number;
}

/** One line of the table. A figure without a limit explains another one. */
export interface Figure {
  what: string;
  value: number;
  unit: string;
  limit?: Limit;
  detail?: string;
}

export interface Benchmark {
  name: string;
  about: string;
  /** Answers figures, or why it cannot run here. */
  run: (context: BenchContext) => Promise<Figure[] | { leftOut: string }>;
}

export function holds({ value, limit }: Figure): boolean {
  if (limit === undefined) return true;
  if (limit.direction === 'exactly') return value === limit.bound;
  return limit.direction === 'least' ? value >= limit.bound : value <= limit.bound;
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** The rate with its unit, rounded for people. */
export const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en')}/s`;
export const milliseconds = (value: number): string => `${value.toFixed(1)} ms`;

/** 429 answers and other surprises, said beside the figure they belong to; empty where everything was accepted. */
export function otherAnswers(who: string, results: { answers: Record<string, number> }[]): string {
  const totals: Record<string, number> = {};
  for (const [kind, count] of results.flatMap(({ answers }) => Object.entries(answers)))
    if (kind !== 'accepted') totals[kind] = (totals[kind] ?? 0) + count;
  const parts = Object.entries(totals).map(([kind, count]) => `${count.toLocaleString('en')} answered ${kind}`);
  return parts.length > 0 ? `; ${who}: ${parts.join(', ')}` : '';
}
