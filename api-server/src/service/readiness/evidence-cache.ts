import type { Gathered } from '../../analytics/readiness/readiness.ts';

/** How long a preview goes by what it read once (Orchestration 8). */
const TTL_MS = 30_000;
/** Pipelines whose evidence is kept at a time; the oldest goes first. */
const MAX_KEPT = 8;

export interface Found {
  gathered: Gathered;
  hit: boolean;
}

/** Evidence by pipeline edition; several who ask at the same time wait for one read. */
export function cacheEvidence(now: () => number): (key: string, gather: () => Promise<Gathered>) => Promise<Found> {
  const kept = new Map<string, { at: number; gathered: Promise<Gathered> }>();
  const forget = (key: string) => kept.delete(key);
  return async (key, gather) => {
    for (const [old, { at }] of kept) if (now() - at >= TTL_MS) forget(old);
    const known = kept.get(key);
    if (known) return { gathered: await known.gathered, hit: true };
    const gathered = gather();
    kept.set(key, { at: now(), gathered });
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) forget(oldest);
    try {
      return { gathered: await gathered, hit: false };
    } catch (error) {
      forget(key);
      throw error;
    }
  };
}
