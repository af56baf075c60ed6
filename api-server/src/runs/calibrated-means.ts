import type { CalibrationQuery } from './evidence.ts';

type Read = (query: CalibrationQuery) => Promise<number | null>;

export interface MeansOptions {
  /** How long a value is reused, in seconds; 0 reads every time. */
  ttlSeconds: number;
  binWidth: number;
  now(): number;
}

/** Bins remembered at most; the oldest goes first. */
const MAX_BINS = 1_000;

/** The bin that a confidence falls in, counted from 0; the last one includes 1. */
export function binOf(confidence: number, binWidth: number): { bin: number; bins: number } {
  const bins = Math.round(1 / binWidth);
  return { bin: Math.min(Math.floor(confidence * bins + 1e-9), bins - 1), bins };
}

/** Reads each bin of a bucket once in a while: marks that came since count after that (Orchestration 2.13). */
export function rememberMeans(read: Read, { ttlSeconds, binWidth, now }: MeansOptions): Read {
  const known = new Map<string, { value: number | null; until: number }>();
  return async (query) => {
    const { confidence, ...bucket } = query;
    const key = JSON.stringify([bucket, binOf(confidence, binWidth).bin]);
    const found = known.get(key);
    if (found && now() < found.until) return found.value;
    const value = await read(query);
    known.delete(key);
    known.set(key, { value, until: now() + ttlSeconds * 1000 });
    const [oldest] = known.size > MAX_BINS ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    return value;
  };
}
