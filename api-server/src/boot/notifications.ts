import { EVERYWHERE, httpExecutor } from '../executors/http.ts';
import { tenantHttp } from '../executors/tenant-http.ts';
import { hearsButtons } from '../chat/bots.ts';
import { routeProblems } from '../notify/check.ts';
import { createNotifications, type Notifications } from '../notify/notifications.ts';
import { createOutbox } from '../store/tables/outbox.ts';
import { namespaceOfRun } from '../store/tables/replicas/tenant-load.ts';
import type { Foundation } from './foundation.ts';
import type { ServiceOptions } from './options.ts';

/** Connects notifications to their outbox, their HTTP and SMTP clients and the clock. */
export function wireNotifications(
  { config, logs, pipelineEnv }: ServiceOptions,
  { database, templates, tenants, dailyBytes }: Foundation,
): Notifications {
  for (const problem of routeProblems(config.notifications)) logs.log.warn(problem);
  const guarded = tenantHttp(config.security.egressAllow, tenants.egressAllowOf);
  const namespaceOf = async (runId: string | null) => (runId === null ? undefined : namespaceOfRun(database.db, runId));
  return createNotifications({
    settings: config.notifications,
    regressions: config.regressions,
    publicUrl: config.publicUrl,
    templates,
    hears: hearsButtons(config.notifications),
    dailyBytes,
    env: pipelineEnv,
    http: httpExecutor(EVERYWHERE),
    guardedHttp: async ({ runId, ...call }) => guarded({ ...call, namespace: await namespaceOf(runId) }),
    receiversOf: async ({ runId, pipeline }) => tenants.receiversOf({ pipeline, namespace: await namespaceOf(runId) }),
    authorOf: async ({ runId, pipeline }) => {
      const namespace = (await namespaceOf(runId)) ?? null;
      return { name: namespace ?? `pipeline ${pipeline}`, isTenant: namespace !== null };
    },
    outbox: createOutbox(database),
    log: logs.log,
    now: () => Date.now(),
  });
}
