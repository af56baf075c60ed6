import { backoffMs } from '../backoff.ts';

const BACKOFF = { firstMs: 500, mostMs: 30_000 };
/** Of what the other side asks for: a timer takes no more than 24 days, and fires at once with more. */
const MOST_ASKED_MS = 60 * 60_000;

/** How one turn ended: go on at once, or wait a growing while; `afterMs` where the other side said how long. */
export type Turn = { ok: true } | { ok: false; message: string; afterMs?: number };

export interface LoopDeps {
  /** Resolves early when the signal fires. */
  delay(milliseconds: number, signal: AbortSignal): Promise<unknown>;
  warn(message: string): void;
}

/** Takes turn after turn until the signal fires. The same problem is logged once. */
export async function keepOn(deps: LoopDeps, signal: AbortSignal, turn: () => Promise<Turn>): Promise<void> {
  let failures = 0;
  let warned = '';
  while (!signal.aborted) {
    const result = await turn().catch(broken);
    if (result.ok) {
      failures = 0;
      warned = '';
      continue;
    }
    if (signal.aborted) return;
    if (result.message !== warned) deps.warn(result.message);
    warned = result.message;
    failures += 1;
    await deps.delay(Math.max(backoffMs(failures, BACKOFF), askedMs(result.afterMs)), signal);
  }
}

/** An error of ours, or of a library that does not take what the chat sent: the next turn may be another one. */
const broken = (error: unknown): Turn => ({
  ok: false,
  message: `a chat cannot be heard: ${error instanceof Error ? error.message : 'error'}`,
});

const askedMs = (afterMs = 0): number => (Number.isFinite(afterMs) ? Math.min(afterMs, MOST_ASKED_MS) : 0);
