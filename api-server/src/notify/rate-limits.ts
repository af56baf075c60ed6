/** Rows that waited for the same receiver come back over so many seconds. */
const SPREAD_SECONDS = 16;

/** Receivers that limited the rate: no other message is sent there until their time is over. */
export interface RateLimits {
  /** Milliseconds to wait, 0 when the way is free; `id` decides a row's place among those that wait. */
  wait(target: string, id: string, now: number): number;
  hold(target: string, until: number): void;
}

export function createRateLimits(): RateLimits {
  const held = new Map<string, number>();
  return {
    wait: (target, id, now) => {
      const until = held.get(target) ?? 0;
      if (until > now) return until - now + place(id) * 1000;
      held.delete(target);
      return 0;
    },
    hold: (target, until) => void held.set(target, Math.max(until, held.get(target) ?? 0)),
  };
}

const place = (id: string): number =>
  [...id].reduce((sum, sign) => sum + (sign.codePointAt(0) ?? 0), 0) % SPREAD_SECONDS;
