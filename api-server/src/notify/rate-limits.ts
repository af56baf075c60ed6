/** Rows that waited for the same receiver come back over so many seconds. */
const SPREAD_SECONDS = 16;
/** How long the others wait for the one that finds out whether a silent receiver answers again. */
const PROBE_MS = 15_000;
/** Until all rows of others that waited for a receiver have come back to it. */
const LATER_MS = SPREAD_SECONDS * 1_000;
const MAX_HELD = 1_000;
/** No receiver is left alone longer than this, whatever it asks for: others wait for it too, and one answer must not silence a channel. */
export const MOST_HELD_MS = 600_000;

/** Who is written to, and the namespace that writes; null for the operator. */
export interface Receiver {
  target: string;
  tenant: string | null;
}

/** Receivers that limited the rate or did not answer: no other message is sent there until their time is over. */
export interface RateLimits {
  /** Milliseconds to wait, 0 when the way is free; `id` decides a row's place among those that wait. */
  wait(target: string, id: string, now: number): number;
  /** As long as the receiver asks for, up to `MOST_HELD_MS`; longer for tenants, whose messages may be many, so that those of others come first. */
  hold(receiver: Receiver, now: number, milliseconds: number): void;
  /** As `wait`, for what holds up this tenant alone. */
  waitBehind(receiver: Receiver, id: string, now: number): number;
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
  const wait: RateLimits['wait'] = (target, id, now) => {
    const { until = 0, isSilent = false } = held.get(target) ?? {};
    const left = until - now;
    // More is left than was ever held where the clock was set back.
    if (left > 0 && left <= MOST_HELD_MS) return left + place(id) * 1000;
    held.delete(target);
    if (isSilent) keep(target, now + PROBE_MS, true);
    return 0;
  };
  return {
    wait,
    hold: ({ target, tenant }, now, milliseconds) => {
      const until = (ms: number) => now + Math.min(ms, MOST_HELD_MS);
      keep(target, until(milliseconds), false);
      keep(tenants(target), until(milliseconds + LATER_MS), false);
      // Whom it refused comes behind other tenants too.
      if (tenant !== null) keep(ofTenant(target, tenant), until(milliseconds + 2 * LATER_MS), false);
    },
    waitBehind: ({ target, tenant }, id, now) =>
      tenant === null ? 0 : Math.max(wait(tenants(target), id, now), wait(ofTenant(target, tenant), id, now)),
    silent: (target, until) => keep(target, until, true),
    answered: (target) => {
      if (held.get(target)?.isSilent) held.delete(target);
    },
  };
}

const tenants = (target: string): string => `tenants ${target}`;
const ofTenant = (target: string, tenant: string): string => `tenant ${tenant} ${target}`;

/** Spreads rows that wait for the same. */
export const place = (id: string): number =>
  [...id].reduce((sum, sign) => sum + (sign.codePointAt(0) ?? 0), 0) % SPREAD_SECONDS;
