import { setTimeout as sleep } from 'node:timers/promises';
import type { Approvals } from '../service/approvals/approvals.ts';
import type { Escalations } from '../service/attention/attention.ts';
import { attendBy } from '../service/attention/press.ts';
import { roomOf } from '../chat/bots.ts';
import { createChats } from '../chat/chats.ts';
import { outcomeOfApproval, outcomeOfRun } from '../chat/outcomes.ts';
import { EVERYWHERE, httpExecutor } from '../executors/http.ts';
import { ownConfig } from '../notify/prepare.ts';
import { messagesOf } from '../store/tables/approvals.ts';
import { findRun } from '../store/tables/run-detail.ts';
import { createOutbox } from '../store/tables/outbox.ts';
import { messagesAbout } from '../store/tables/reminders/messages-about.ts';
import type { Foundation } from './foundation.ts';
import type { ServiceOptions } from './options.ts';

interface Deciding {
  approvals: Approvals;
  escalations: Escalations;
}

/** Chat channels take decisions through the same use cases as the JSON routes. */
export function wireChats(
  { config, logs, pipelineEnv: env }: ServiceOptions,
  { database }: Foundation,
  { approvals, escalations }: Deciding,
) {
  const { notifications: settings, regressions } = config;
  const { definitionOf } = createOutbox(database);
  return createChats({
    settings,
    http: httpExecutor(EVERYWHERE),
    decide: approvals.decide,
    attend: attendBy({
      escalations,
      rules: config.approvals,
      teamOf: async (runId) => (await findRun(database.db, runId))?.team ?? null,
    }),
    messages: {
      ofApproval: async (id) => {
        const approval = await approvals.find(id);
        return approval === null ? [] : messagesOf(database.db, approval);
      },
      ofRun: (id) => messagesAbout(database.db, id),
    },
    roomOf: async ({ channel, source, message }) => {
      const { runId } = message;
      const found = await ownConfig({ settings, regressions, env, definitionOf }, { source, runId, message });
      const isOurs = found.ok && (found.byOperator || found.own['bot_token'] === undefined);
      return isOurs ? roomOf(settings, channel, found.own) : null;
    },
    onOutcome: (listener) => {
      approvals.onClosed((approval) => listener(outcomeOfApproval(approval, () => messagesOf(database.db, approval))));
      escalations.onChanged((changed) =>
        listener(outcomeOfRun(changed, () => messagesAbout(database.db, changed.runId))),
      );
    },
    delay: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => undefined),
    warn: (message) => logs.log.warn(message),
  });
}
