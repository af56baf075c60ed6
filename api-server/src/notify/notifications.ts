import type { RegressionEntry } from '../config/config.ts';
import type { NotificationsBlock } from '../config/notifications-schema.ts';
import type { ActiveRun } from '../runs/state/active-run.ts';
import type { HttpExecutor } from '../runs/state/executor.ts';
import type { Write } from '../runs/state/records.ts';
import type { PipelineEnv } from '../runs/prompt/rendering.ts';
import type { Templates } from '../runs/prompt/templates.ts';
import type { Io } from './channel.ts';
import { type ApprovalRequest, planApproval, type Plan, type PlanDeps, planRunEnd, type RunEnd } from './plan.ts';
import type { Notification } from './message.ts';
import { prepare, type PrepareDeps } from './prepare.ts';
import { planRegression, type RegressionAlert } from './regression.ts';
import { forwardOf } from './fallback.ts';
import { routeOf } from './routes.ts';
import { createUndeliveredCount, type UndeliveredCount, warningOf } from './undelivered.ts';
import { type GuardedHttp, type Outbox, Sender, type SenderDeps, TRY_MS } from './sender.ts';

export interface NotificationsDeps {
  settings: NotificationsBlock;
  regressions: readonly RegressionEntry[];
  /** `server.public_url`. */
  publicUrl: string | null;
  templates: Templates;
  hears: PlanDeps['hears'];
  dailyBytes: PlanDeps['dailyBytes'];
  env: PipelineEnv;
  http: HttpExecutor;
  guardedHttp: GuardedHttp;
  receiversOf: PrepareDeps['receiversOf'];
  authorOf: SenderDeps['authorOf'];
  outbox: Outbox;
  log: Io['log'];
  now(): number;
  tryMs?: number;
}

export interface Notifications {
  /** What the end of a run makes known, for the transaction that ends it; adds to the run's log what could not be rendered. */
  runEnded(run: ActiveRun, end: RunEnd): Write[];
  /** Asks people, for the transaction that stores the question. */
  approvalAsked(run: ActiveRun, request: ApprovalRequest): Write[];
  /** The message of a scheduled replay, for the transaction that stores it. */
  regressionAlert(alert: RegressionAlert): Notification;
  sender: Sender;
  undelivered: Pick<UndeliveredCount, 'recent'>;
  /** What operators should know, as last counted: messages that did not reach their channel. */
  warnings(): string[];
}

/** Notifications of the service (Orchestration 6): stored with the run, delivered in the background. */
export function createNotifications(deps: NotificationsDeps): Notifications {
  const { settings, env, outbox, publicUrl } = deps;
  const planning: PlanDeps = {
    templates: deps.templates,
    mask: env.mask,
    hears: deps.hears,
    dailyBytes: deps.dailyBytes,
    publicUrl: publicUrl === null ? null : publicUrl.replace(/\/+$/, ''),
    routeOf: (team) => routeOf(settings, team),
  };
  const { regressions, receiversOf } = deps;
  const preparing = { settings, regressions, env, definitionOf: outbox.definitionOf, receiversOf };
  const undelivered = createUndeliveredCount(outbox.undelivered);
  const sender = new Sender({
    outbox,
    prepare: (notification, channel) => prepare(preparing, notification, channel),
    authorOf: deps.authorOf,
    http: deps.http,
    guardedHttp: deps.guardedHttp,
    mask: env.mask,
    log: deps.log,
    now: deps.now,
    tryMs: deps.tryMs ?? TRY_MS,
    patience: {
      giveUpMs: settings.give_up_after_seconds * 1000,
      forward: (failed, at) => forwardOf(settings, failed, at),
    },
    recount: async (signal) => void (await undelivered.count(signal)),
  });
  const writes = (run: ActiveRun, plan: () => Plan, pace = run.namespace): Write[] => {
    const { notifications, notes } = planned(run, plan, deps.log);
    for (const { event, msg } of notes) run.journal.add('warn', event, msg);
    if (notifications.length === 0) return [];
    sender.soon();
    return [outbox.insert(notifications.map((one) => sender.paced(one, pace)))];
  };
  return {
    runEnded: (run, end) => writes(run, () => planRunEnd(planning, run, { ...end, at: deps.now() })),
    // A question has a deadline: it waits for other questions alone.
    approvalAsked: (run, request) =>
      writes(run, () => planApproval(planning, run, request), run.namespace && `${run.namespace} asks`),
    regressionAlert: (alert) => planRegression(planning, alert),
    sender,
    undelivered,
    warnings: () => undelivered.last().map(warningOf),
  };
}

/** A fault in what we have to say must not keep a run from ending. */
function planned({ id }: ActiveRun, plan: () => Plan, log: Io['log']): Plan {
  try {
    return plan();
  } catch (error) {
    log.warn({ run_id: id, err: error }, 'notifications of a run could not be planned');
    const msg = 'no notification was sent: planning them failed; the service log has the details';
    return { notifications: [], notes: [{ event: 'notification_failed', msg }] };
  }
}
