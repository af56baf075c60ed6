import type { Delivery, Prepared } from './channel.ts';
import type { Claimed } from './settle.ts';
import { MOST_HELD_MS, place } from './rate-limits.ts';

/** A namespace, or a pipeline of the operator's, of which only the addresses that it wrote are counted. */
export interface MessageAuthor {
  name: string;
  isTenant: boolean;
}

/** Messages that are on their way at the same time of one author, and of all authors. */
const MOST_OF_AUTHOR = 3;
const MOST_OF_ALL = 6;
/** How long a message waits at least where there is no turn. */
const WAIT_MS = 1_000;

/** Leaves places for the operator's own messages: who writes a definition decides how many it sends, and how long an address takes to answer. */
export interface AuthorTurns {
  /** False where there is none. */
  take(author: string): boolean;
  giveBack(author: string): void;
}

export function createAuthorTurns(): AuthorTurns {
  const taken = new Map<string, number>();
  let all = 0;
  return {
    take: (author) => {
      const own = taken.get(author) ?? 0;
      if (own >= MOST_OF_AUTHOR || all >= MOST_OF_ALL) return false;
      taken.set(author, own + 1);
      all += 1;
      return true;
    },
    giveBack: (author) => {
      const left = (taken.get(author) ?? 0) - 1;
      all -= 1;
      if (left > 0) taken.set(author, left);
      else taken.delete(author);
    },
  };
}

/** The longer a message waits, the more seldom it is looked at: thousands of them must not take the time of others. */
export const untilTurn = ({ id, triedFrom }: Pick<Claimed, 'id' | 'triedFrom'>, heldMs: number, at: number): number =>
  Math.min(Math.max(heldMs, (at - triedFrom) / 2, WAIT_MS) + place(id) * 200, MOST_HELD_MS);

/** Messages of one tenant that are due at once, and how often one more is. */
const AT_ONCE = 100;
const EVERY_MS = 200;

/** When the next message of a tenant is due. What is due is looked at in the order of these times: who has thousands waits for himself alone. */
export function createPace(): (tenant: string, at: number) => number {
  const next = new Map<string, number>();
  let seen = 0;
  return (tenant, at) => {
    // Times of a clock that was set back since would hold messages for as long.
    if (at < seen - AT_ONCE * EVERY_MS) next.clear();
    seen = at;
    const due = Math.max(next.get(tenant) ?? 0, at - AT_ONCE * EVERY_MS);
    next.set(tenant, due + EVERY_MS);
    return Math.max(due, at);
  };
}

export const waitsFor = (retryAfterMs: number): Delivery => ({
  ok: false,
  message: 'waits until the receiver takes more',
  retryable: true,
  limited: true,
  isOurs: true,
  retryAfterMs,
});

/** Who counts our messages, and last who has to answer: the addresses of one author together, because there may be many. */
export const targetsOf = ({ target, byAuthor = false }: Prepared, { pipeline }: Claimed): string[] =>
  byAuthor ? [target, `pipeline ${pipeline}`] : [target];
