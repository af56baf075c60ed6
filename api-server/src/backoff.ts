export interface Backoff {
  firstMs: number;
  mostMs: number;
  /** Up to this share of a wait is taken off at random, so that many who wait do not come back together; 0 where it is left out. */
  jitter?: number;
}

/** How long to wait after so many failures in a row (1 is the first): twice as long each time. */
export function backoffMs(failures: number, { firstMs, mostMs, jitter = 0 }: Backoff): number {
  const full = Math.min(firstMs * 2 ** Math.min(failures - 1, 30), mostMs);
  return full * (1 - jitter * Math.random());
}
