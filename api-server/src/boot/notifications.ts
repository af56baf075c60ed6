import type { Config } from '../config/config.ts';
import { httpExecutor } from '../executors/http.ts';
import { routeProblems } from '../notify/check.ts';
import { createNotifications, type Notifications } from '../notify/notifications.ts';
import type { Logs } from '../observability/logger.ts';
import type { PipelineEnv } from '../runs/prompt/rendering.ts';
import type { Templates } from '../runs/prompt/templates.ts';
import type { Database } from '../store/db/database.ts';
import { createOutbox } from '../store/tables/outbox.ts';

export interface NotificationParts {
  config: Pick<Config, 'notifications' | 'publicUrl' | 'security'>;
  logs: Pick<Logs, 'log'>;
  pipelineEnv: PipelineEnv;
  database: Database;
  templates: Templates;
}

/** Addresses in the service configuration are trusted, because the operator sets them. */
const EVERYWHERE = ['0.0.0.0/0', '::/0'];

/** Connects notifications to their outbox, their HTTP and SMTP clients and the clock. */
export function wireNotifications({
  config,
  logs,
  pipelineEnv,
  database,
  templates,
}: NotificationParts): Notifications {
  for (const problem of routeProblems(config.notifications)) logs.log.warn(problem);
  return createNotifications({
    settings: config.notifications,
    publicUrl: config.publicUrl,
    templates,
    env: pipelineEnv,
    http: httpExecutor(EVERYWHERE),
    guardedHttp: httpExecutor(config.security.egressAllow),
    outbox: createOutbox(database),
    log: logs.log,
    now: () => Date.now(),
  });
}
