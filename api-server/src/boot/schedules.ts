import { cleanArtifacts } from '../store/artifacts/clean.ts';
import type { Foundation } from './foundation.ts';
import { beginOwn, SHARED, TENANT_LOAD } from './intake.ts';
import type { ServiceOptions } from './options.ts';
import { startDaily } from '../schedules/daily.ts';
import type { Engine } from '../runs/run/engine.ts';
import { newId } from '../runs/state/ids.ts';
import { concurrencyGroupOf } from '../runs/run/concurrency-groups.ts';
import { fire, scheduledTeam } from '../schedules/fire.ts';
import { createScheduler, type Scheduler } from '../schedules/scheduler.ts';
import type { Tx } from '../store/db/database.ts';
import { pruneArtifacts } from '../store/tables/artifacts.ts';
import { pruneDeliveries } from '../store/tables/deliveries.ts';
import { pruneAudit, pruneRuns } from '../store/tables/prune.ts';
import { giveBackPages } from '../store/tables/retention/free-pages.ts';
import { pruneDefinitions } from '../store/tables/retention/prune-definitions.ts';
import { pruneRaw } from '../store/tables/raw-bodies.ts';
import { insertRun, keepDefinition } from '../store/tables/run-writes.ts';
import { lastLook, noteLook, pruneFires, takeFire, takeMissed } from '../store/tables/schedules.ts';

const now = () => Date.now();
const DAY_MS = 86_400_000;

/** Connects schedules to their store and to intake. */
export function wireScheduler(
  { config, logs }: ServiceOptions,
  { database, registry, concurrencyGroups, templates, definitionBytes }: Foundation,
  engine: Engine,
): Scheduler {
  return createScheduler({
    definitions: registry.current,
    fire: (pipeline, at) =>
      fire<Tx>(
        {
          write: (job) => database.write(job),
          takeFire,
          storable: definitionBytes.storable,
          keepDefinition: (tx, { hash, name, config: body }) =>
            keepDefinition(tx, { hash, kind: 'Pipeline', name, body: JSON.stringify(body), stored_at: now() }),
          tenantLoad: TENANT_LOAD,
          insertRun,
          isFull: engine.isFull,
          concurrencyGroups,
          concurrencyGroupOf: (of, context) =>
            concurrencyGroupOf(templates, { pipeline: of.config, context, team: scheduledTeam(of) }),
          now,
          newId,
          begin: database.writeAs ? beginOwn(engine) : engine.begin,
          ...(database.writeAs && { shared: SHARED }),
        },
        pipeline,
        at,
      ),
    takeMissed: (name, fires) => database.write((tx) => takeMissed(tx, { pipeline: name, fires, now: now() })),
    lastLook: () => lastLook(database.db),
    noteLook: (at) => database.write((tx) => noteLook(tx, at)),
    catchUpSeconds: config.schedule.catchUpSeconds,
    now,
    log: logs.log,
  });
}

/** The daily removal of expired rows, by the leader, and of expired files, by every process. */
export function startRetention({ config, logs }: ServiceOptions, { database, state }: Foundation): { stop(): void } {
  const { artifacts, retention } = config;
  const tasks = new Map<string, () => Promise<number>>();
  const { runsDays, auditDays, deliveriesDays } = retention;
  const once = (name: string, task: () => Promise<number>) => tasks.set(name, async () => (state.leads ? task() : 0));
  if (artifacts !== null) {
    const { dir, retentionDays: days } = artifacts;
    if (dir !== null) tasks.set('artifacts', () => cleanArtifacts(dir, days, now()));
    else once('artifacts', () => pruneArtifacts(database, now() - days * DAY_MS));
  }
  once('runs', () => pruneRuns(database, runsDays, now()));
  once('raw_bodies', () => pruneRaw(database, now()));
  once('definitions', () => pruneDefinitions(database, now()));
  if (auditDays !== null) once('audit', () => pruneAudit(database, auditDays, now()));
  once('deliveries', () => pruneDeliveries(database, deliveriesDays, now()));
  once('schedule_fires', () => pruneFires(database, { now: now(), catchUpSeconds: config.schedule.catchUpSeconds }));
  const { giveBack } = database;
  if (giveBack) tasks.set('free_pages', () => giveBackPages(giveBack));
  return startDaily({ tasks, log: logs.log });
}
