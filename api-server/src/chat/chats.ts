import { changesMessages, slackApps, telegramBots } from './bots.ts';
import { type CloseDeps, closeMessages, type Outcome } from './close-messages.ts';
import type { Pressing } from './press.ts';
import { createRunTurns } from './run-turns.ts';
import { hearSlack } from './slack.ts';
import { hearTelegram } from './telegram.ts';

export interface ChatsDeps extends CloseDeps, Pressing {
  /** Every approval that is closed and every run whose attention changed, however that came. */
  onOutcome(listener: (outcome: Outcome) => void): void;
}

/** Messages that are changed at the same time; what is more waits for no one and is left as it is. */
const MAX_CLOSING = 100;

export interface Chats {
  /** Whether buttons are heard from now on; of several processes one should, because a chat tells each press to one listener. */
  hear(on: boolean): void;
  stop(): Promise<void>;
}

/** The chats that may decide: hears their buttons, and changes messages whose question is closed. */
export function createChats(deps: ChatsDeps): Chats {
  const closing = new AbortController();
  let hearing: AbortController | null = null;
  const working = new Set<Promise<void>>();
  const work = (job: Promise<void>) => {
    const done = job.catch(() => deps.warn('a chat cannot be served')).finally(() => working.delete(done));
    working.add(done);
  };
  const inTurn = createRunTurns();
  const close = (outcome: Outcome) => {
    if (working.size < MAX_CLOSING && !closing.signal.aborted)
      work(closeMessages(deps, outcome, { signal: closing.signal, inTurn }));
  };
  if (changesMessages(deps.settings)) deps.onOutcome(close);
  const hear = (on: boolean) => {
    if (on === (hearing !== null) || (on && closing.signal.aborted)) return;
    hearing?.abort();
    hearing = on ? new AbortController() : null;
    if (!hearing) return;
    const { signal } = hearing;
    for (const bot of telegramBots(deps.settings)) work(hearTelegram(deps, bot, signal));
    for (const app of slackApps(deps.settings)) work(hearSlack(deps, app, signal));
  };
  return {
    hear,
    stop: async () => {
      hear(false);
      closing.abort();
      await Promise.all(working);
    },
  };
}
