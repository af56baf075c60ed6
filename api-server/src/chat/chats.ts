import type { Approval } from '../approvals/model.ts';
import { slackApps, telegramBots } from './bots.ts';
import { type CloseDeps, closeMessages } from './close-messages.ts';
import type { Decide } from './press.ts';
import { hearSlack } from './slack.ts';
import { hearTelegram } from './telegram.ts';

export interface ChatsDeps extends CloseDeps {
  decide: Decide;
  /** Every approval that is closed, however that came. */
  onClosed(listener: (approval: Approval) => void): void;
}

/** Messages that are changed at the same time; what is more waits for no one and is left as it is. */
const MAX_CLOSING = 100;

/** The chats that may decide: hears their buttons, and changes messages whose question is closed. */
export function createChats(deps: ChatsDeps): { start(): void; stop(): Promise<void> } {
  const controller = new AbortController();
  const { signal } = controller;
  const working = new Set<Promise<void>>();
  const work = (job: Promise<void>) => {
    const done = job.catch(() => deps.warn('a chat cannot be served')).finally(() => working.delete(done));
    working.add(done);
  };
  deps.onClosed((approval) => {
    if (working.size < MAX_CLOSING && !signal.aborted) work(closeMessages(deps, approval, signal));
  });
  return {
    start: () => {
      for (const bot of telegramBots(deps.settings)) work(hearTelegram(deps, bot, signal));
      for (const app of slackApps(deps.settings)) work(hearSlack(deps, app, signal));
    },
    stop: async () => {
      controller.abort();
      await Promise.all(working);
    },
  };
}
