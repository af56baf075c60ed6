import { LRUCache } from 'lru-cache';
import type { Gathered } from '../../analytics/readiness/readiness.ts';

/** How long a preview reuses the evidence that it read (Orchestration 8). */
const TTL_MS = 30_000;
/** Limit of pipelines whose evidence is cached. */
const MAX_KEPT = 8;

export interface Found {
  gathered: Gathered;
  hit: boolean;
}

/** Evidence by pipeline version; concurrent callers share one read. */
export function cacheEvidence(now: () => number): (key: string, gather: () => Promise<Gathered>) => Promise<Found> {
  const kept = new LRUCache<string, Promise<Gathered>>({ max: MAX_KEPT, ttl: TTL_MS, ttlResolution: 0, perf: { now } });
  return async (key, gather) => {
    const known = kept.get(key);
    if (known) return { gathered: await known, hit: true };
    const gathered = gather();
    kept.set(key, gathered);
    try {
      return { gathered: await gathered, hit: false };
    } catch (error) {
      kept.delete(key);
      throw error;
    }
  };
}
