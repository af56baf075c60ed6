import type { Token } from '../../config/config.ts';

/** What one token may deliver in a minute and in a day in UTC. */
export interface TokenLimit {
  /** Counts a delivery; seconds to wait where it is over a limit, else null. */
  take(bytes: number): { over: string; waitSeconds: number } | null;
}

const MINUTE = 60_000;
const DAY = 86_400_000;

/** Null where the token has no limit. Counts are of this process, from its start. */
export function createTokenLimit(
  { rateLimit, dailyBytes }: Pick<Token, 'rateLimit' | 'dailyBytes'>,
  now: () => number,
): TokenLimit | null {
  if (rateLimit === undefined && dailyBytes === undefined) return null;
  const minute = counter(MINUTE, rateLimit, 'deliveries a minute', now);
  const day = counter(DAY, dailyBytes, 'bytes a day', now);
  return { take: (bytes) => minute(1) ?? day(bytes) };
}

function counter(period: number, most: number | undefined, what: string, now: () => number) {
  let [begun, used] = [0, 0];
  return (amount: number): ReturnType<TokenLimit['take']> => {
    if (most === undefined) return null;
    const at = now();
    const current = at - (at % period);
    if (current !== begun) [begun, used] = [current, 0];
    if (used + amount > most) return { over: `${most} ${what}`, waitSeconds: Math.ceil((begun + period - at) / 1000) };
    used += amount;
    return null;
  };
}
