/** Rows that waited for the same receiver come back over so many seconds. */
const SPREAD_SECONDS = 16;
/** How long the others wait for the one that finds out whether a silent receiver answers again. */
const PROBE_MS = 15_000;
const MAX_HELD = 1_000;
/** No receiver is left alone longer than this, whatever it asks for: others wait for it too, and one answer must not silence a channel. */
export const MOST_HELD_MS = 600_000;

/** Receivers that limited the rate or did not answer: no other message is sent there until their time is over. */
export interface RateLimits {
  /** Milliseconds to wait, 0 when the way is free; `id` decides a row's place among those that wait. */
  wait(target: string, id: string, now: number): number;
  /** As long as the receiver asks for, up to `MOST_HELD_MS`. */
  hold(target: string, now: number, milliseconds: number): void;
  /** Nothing came back in time. Until something does, one message after the other is tried. */
  silent(target: string, until: number): void;
  answered(target: string): void;
}

export function createRateLimits(): RateLimits {
  const held = new Map<string, { until: number; isSilent: boolean }>();
  const keep = (target: string, until: number, isSilent: boolean) => {
    const [oldest] = held.keys();
    if (held.size >= MAX_HELD && oldest !== undefined) held.delete(oldest);
    held.set(target, { until: Math.max(until, held.get(target)?.until ?? 0), isSilent });
  };
  return {
    wait: (target, id, now) => {
      const { until = 0, isSilent = false } = held.get(target) ?? {};
      const left = until - now;
      // More is left than was ever held where the clock was set back.
      if (left > 0 && left <= MOST_HELD_MS) return left + place(id) * 1000;
      held.delete(target);
      if (isSilent) keep(target, now + PROBE_MS, true);
      return 0;
    },
    hold: (target, now, milliseconds) => keep(target, now + Math.min(milliseconds, MOST_HELD_MS), false),
    silent: (target, until) => keep(target, until, true),
    answered: (target) => {
      if (held.get(target)?.isSilent) held.delete(target);
    },
  };
}

/** Spreads rows that wait for the same. */
export const place = (id: string): number =>
  [...id].reduce((sum, sign) => sum + (sign.codePointAt(0) ?? 0), 0) % SPREAD_SECONDS;
