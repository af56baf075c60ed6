const FIRST_MS = 1000;
const MAX_MS = 60_000;
export const HEALTHY_AFTER_MS = 60_000;

/** How long to wait before start number `failures + 1`: 1, 2, 4 … 60 s, each shortened by up to a quarter. `random` in [0, 1). */
export function backoffMs(failures: number, random: number): number {
  const full = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10));
  return Math.round(full * (1 - random / 4));
}
