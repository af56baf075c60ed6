import { tidy } from './tidy.ts';

/** What a confidence is worth is learned per bucket: another prompt, agent, model or version starts a new one (Orchestration 2.9). */
export interface BucketKey {
  agent: string | null;
  provider: string | null;
  model: string | null;
  promptHash: string | null;
  agentVersion: string | null;
}

/** 1 correct, 0.5 partial, 0 incorrect. */
export type Label = 1 | 0.5 | 0;

/** `n` marked executions of one bucket that said the same and turned out the same. */
export interface Labelled extends BucketKey {
  /** Effective confidence, 0..1. */
  confidence: number;
  label: Label;
  n: number;
  /** Where they ran; absent where it is known to be one. */
  pipeline?: string;
}

export interface CalibrationRule {
  /** Marked executions that a bin needs before it says anything. */
  nMin: number;
  /** Divides 1 evenly. */
  binWidth: number;
}

export interface Bin {
  lo: number;
  /** Belongs to the next bin, but for the last one. */
  hi: number;
  n: number;
  /** Null where `n` is 0. */
  meanLabel: number | null;
  /** Mean of what its executions said; null where `n` is 0. */
  meanConfidence: number | null;
  validated: boolean;
}

export interface Bucket extends BucketKey {
  totalN: number;
  /** Whose marked executions these are, by name: the same question of the same agent is one bucket, whichever pipeline asks. */
  pipelines: string[];
  /** Always 1/binWidth of them. */
  bins: Bin[];
  /** A sentence about the validated bin that promises most too much; null where none does. */
  recommendation: string | null;
}

/** How far below its confidence a share may lie without a word: a few dozen marks tell no finer. */
const TOLERATED_GAP = 0.1;
const EPSILON = 1e-9;

export const dividesOne = (width: number): boolean => Math.abs(1 / width - Math.round(1 / width)) < EPSILON;

/** The bin that a confidence falls in, counted from 0; the last one includes 1. */
export function binOf(confidence: number, binWidth: number): { bin: number; bins: number } {
  const bins = Math.round(1 / binWidth);
  return { bin: Math.max(0, Math.min(Math.floor(confidence * bins + EPSILON), bins - 1)), bins };
}

const keyOf = ({ agent, provider, model, promptHash, agentVersion }: BucketKey): string =>
  JSON.stringify([agent, provider, model, promptHash, agentVersion]);

/** Bins of all buckets that are listed together, and buckets: versions and models come from outside, each a bucket of its own. */
const MOST_BINS = 20_000;
const MOST_BUCKETS = 400;

/** Marked executions as buckets, the ones with most of them, the most first (Orchestration 2.9, 4.4). */
export function calibrate(rows: readonly Labelled[], rule: CalibrationRule): Bucket[] {
  const groups = [...Map.groupBy(rows, keyOf)].map(([key, group]) => ({ key, group, n: sums(group).n }));
  const most = Math.min(MOST_BUCKETS, Math.floor(MOST_BINS * rule.binWidth));
  // Equal ones keep an order of their own, so that a page does not jump about.
  return groups
    .toSorted((a, b) => b.n - a.n || (a.key < b.key ? -1 : 1))
    .slice(0, most)
    .map(({ group }) => bucketOf(group, rule));
}

/**
 * The share of correct answers measured at this confidence in this bucket; null while its bin has fewer than `nMin`
 *.
 */
export function calibratedMean(
  rows: readonly Labelled[],
  query: BucketKey & { confidence: number },
  rule: CalibrationRule,
): number | null {
  const wanted = keyOf(query);
  const { bin } = binOf(query.confidence, rule.binWidth);
  const alike = rows.filter((row) => binOf(row.confidence, rule.binWidth).bin === bin && keyOf(row) === wanted);
  const { n, meanLabel } = sums(alike);
  return n >= rule.nMin ? meanLabel : null;
}

function bucketOf(rows: readonly Labelled[], { nMin, binWidth }: CalibrationRule): Bucket {
  const { agent, provider, model, promptHash, agentVersion } = rows[0] as Labelled;
  const byBin = Map.groupBy(rows, ({ confidence }) => binOf(confidence, binWidth).bin);
  const { bins: count } = binOf(0, binWidth);
  const bins = Array.from({ length: count }, (_, i) => {
    const found = sums(byBin.get(i) ?? []);
    return { lo: i / count, hi: (i + 1) / count, ...found, validated: found.n > 0 && found.n >= nMin };
  });
  const { n: totalN } = sums(rows);
  const pipelines = [...new Set(rows.flatMap(({ pipeline }) => pipeline ?? []))].toSorted();
  return { agent, provider, model, promptHash, agentVersion, totalN, pipelines, bins, recommendation: recommend(bins) };
}

function sums(rows: readonly Labelled[]): Pick<Bin, 'n' | 'meanLabel' | 'meanConfidence'> {
  const sum = (of: (row: Labelled) => number) => rows.reduce((total, row) => total + of(row) * row.n, 0);
  const n = sum(() => 1);
  if (n === 0) return { n, meanLabel: null, meanConfidence: null };
  return tidy({ n, meanLabel: sum(({ label }) => label) / n, meanConfidence: sum(({ confidence }) => confidence) / n });
}

/** How much more a bin promises than it holds. */
export const gapOf = ({ meanConfidence, meanLabel }: Bin): number => (meanConfidence ?? 0) - (meanLabel ?? 0);

function recommend(bins: readonly Bin[]): string | null {
  const [worst] = bins
    .filter((bin) => bin.validated && gapOf(bin) > TOLERATED_GAP + EPSILON)
    .toSorted((a, b) => gapOf(b) - gapOf(a));
  if (!worst) return null;
  const said = Number((worst.meanConfidence ?? 0).toFixed(2));
  const held = Math.round((worst.meanLabel ?? 0) * 100);
  return `Runs that say about ${said} are correct only in ${held}% of ${worst.n} marked cases.`;
}
