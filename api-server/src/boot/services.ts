import { listAgents } from '../executors/agents.ts';
import { gatewayObjects, gatewayTools } from '../executors/gateway-rest.ts';
import { managedBy, readSyncedObjects } from '../definitions/managed-object.ts';
import { definitionFiles } from '../definitions/definition-files.ts';
import { createWriter } from '../definitions/write.ts';
import { createMetrics } from '../observability/metrics.ts';
import { watchReadiness } from '../observability/watch-readiness.ts';
import { keepInvalid } from '../service/deliveries/admit.ts';
import { createDeliveryLog } from '../service/deliveries/delivery-log.ts';
import { receive, type ReceiveDeps } from '../service/deliveries/receive.ts';
import { createServices, type Services } from '../service/services.ts';
import { createCounterReader } from '../store/db/counters.ts';
import type { Tx } from '../store/db/database.ts';
import { insertDelivery } from '../store/tables/deliveries.ts';
import { openAttention } from '../store/tables/attention.ts';
import { countRunning } from '../store/tables/interrupted.ts';
import { firstPrompt } from '../triggers/first-prompt.ts';
import { newId } from '../runs/state/ids.ts';
import { chooseNow, intake } from '../triggers/intake.ts';
import { sources } from '../triggers/sources/index.ts';
import { definitionFolders } from './definitions.ts';
import type { Foundation } from './foundation.ts';
import { beginOwn, roomIn } from './intake.ts';
import { subscribeTo } from './join-replicas.ts';
import { onePersonTwice } from './parts/one-person-twice.ts';
import type { People } from './people.ts';
import { regressionClock } from './regressions.ts';
import { wireReadiness } from './readiness.ts';
import type { Runtime } from './runtime.ts';
import type { ServiceOptions } from './options.ts';

/** A scrape that takes longer is given up by those who ask for it. */
const SCRAPE_MS = 10_000;

export type Operating = ReturnType<typeof operate>;

/** Builds the use cases on the foundation and the runtime. */
export function operate(
  options: ServiceOptions,
  { foundation, people, runtime }: { foundation: Foundation; people: People; runtime: Runtime },
) {
  const { config, logs } = options;
  const { database, registry, reload, hub, templates, backends, capacity, calibration, pricing, versions, state, now } =
    foundation;
  const { approvals, escalations, notifications } = people;
  const { engine, intakeDeps, scheduler, artifacts } = runtime;
  const readiness = wireReadiness(options, foundation);
  const scrape = () => database.reader(AbortSignal.timeout(SCRAPE_MS));
  const metrics = createMetrics({
    readCounters: createCounterReader({ reader: scrape, changed: database.changedCounters }),
    runsInProgress: () => countRunning(database.db),
    approvalsPending: approvals.pendingByTeam,
    undelivered: () => notifications.undelivered.recent(AbortSignal.timeout(SCRAPE_MS)),
    // Of thousands that wait for people it reads all.
    openAttention: () => openAttention(scrape()),
    teamBudgets: config.pricing?.teamBudgets ?? {},
    now,
    sources: [...sources.keys()],
  });
  const take: ReceiveDeps['intake'] = (requests, alongside) => intake(intakeDeps, requests, alongside);
  const deliveryLog = createDeliveryLog<Tx>({
    write: (job) => database.write(job),
    insert: insertDelivery,
    countDropped: metrics.countDroppedDelivery,
    sources: [...sources.keys()],
    now,
    later: (milliseconds, call) => {
      const timer = setTimeout(call, milliseconds).unref();
      return () => clearTimeout(timer);
    },
  });
  const receiving: ReceiveDeps = {
    definitions: registry.current,
    accepting: () => state.accepting,
    noteTooLong: (rules, source) => logs.log.warn({ source, rules }, 'match text too long: the rules do not match'),
    intake: take,
    log: deliveryLog,
    choose: (request) => database.write((tx) => chooseNow(intakeDeps, tx, request)),
    roomFor: roomIn(intakeDeps),
    firstPrompt: (request) => firstPrompt(templates, request, now()),
    now,
  };
  const services: Services = createServices({
    ...readiness.parts,
    database,
    now,
    version: options.version,
    receive: (delivery, alongside) => receive(receiving, delivery, alongside),
    countDelivery: metrics.countDelivery,
    keepInvalid: (delivery, refusal) => keepInvalid(receiving, delivery, refusal),
    flushDeliveries: deliveryLog.flush,
    renderMetrics: metrics.render,
    intake: take,
    cancel: engine.cancel,
    artifacts,
    history: hub.history,
    subscribe: subscribeTo(hub, database),
    approvals,
    escalations,
    definitions: registry.current,
    reload: async () => {
      const loaded = await reload();
      await services.regressions.watch.check();
      return loaded;
    },
    listAgents: () => listAgents(backends),
    managedBy: managedBy(config.managedDir),
    writer: createWriter({ registry, folders: definitionFolders(config), files: definitionFiles }),
    listSchedules: scheduler.list,
    currency: config.pricing?.currency ?? 'USD',
    budgets: config.pricing?.teamBudgets ?? {},
    calibration,
    modelLabel: foundation.modelLabel,
    uses: versions.uses,
    rule: config.calibration,
    replaySettings: config.replay,
    regressing: {
      regressions: config.regressions,
      regressionAlert: notifications.regressionAlert,
      sendSoon: () => notifications.sender.soon(),
      publicUrl: config.publicUrl,
      log: logs.log,
    },
    templates,
    newId,
    priceOf: pricing.priceOf,
    begin: database.writeAs ? beginOwn(engine) : engine.begin,
    sendSoon: () => people.notifications.sender.soon(),
    warnings: () => [
      ...people.notifications.warnings(),
      ...foundation.approvalRight.warnings(),
      ...onePersonTwice(config),
    ],
    activeRuns: capacity.active,
    maxRuns: capacity.max,
    readiness: watchReadiness(
      () => ({
        database: database.healthy(),
        database_file: database.fileInPlace(),
        migrations: true,
        definitions: true,
        accepting: state.accepting,
      }),
      logs.log,
    ),
    syncedObjects: () => readSyncedObjects(config.managedDir),
    gatewayObjects: gatewayObjects(config.executors.gateway),
    gatewayTools: gatewayTools(config.executors.gateway),
  });
  const clock = regressionClock(options, foundation, services.regressions);
  return { services, metrics, verdicts: readiness.verdicts, deliveryLog, clock };
}
