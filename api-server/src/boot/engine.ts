import { setTimeout as sleep } from 'node:timers/promises';
import type { Compute } from '@signalbox/crds/process/compute';
import type { Approvals } from '../service/approvals/approvals.ts';
import type { ArtifactStore } from '../store/artifacts/keep.ts';
import type { Config } from '../config/config.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Tenants } from '../definitions/tenants.ts';
import { agentBackend } from '../executors/agent-backend.ts';
import { tenantHttp } from '../executors/tenant-http.ts';
import { WebSocketRpc } from '../executors/rpc-client.ts';
import { shellExecutor } from '../executors/shell.ts';
import type { Logs } from '../observability/logger.ts';
import { type Failpoints, surround } from './failpoints.ts';
import type { ActiveRun } from '../runs/state/active-run.ts';
import { Stopped, TakenOver } from '../runs/state/stopped.ts';
import { untilAnswered } from '../runs/state/until-answered.ts';
import { agentStep } from '../runs/agent/agent-step.ts';
import type { Calibration } from '../analytics/calibrated-means.ts';
import type { Capacity } from '../runs/run/capacity.ts';
import { createEngine, type Engine, type EngineDeps } from '../runs/run/engine.ts';
import type { EventHub } from '../runs/state/events.ts';
import { type AgentBackend, failure } from '../runs/state/executor.ts';
import type { PriceOf } from '../runs/cost/cost.ts';
import type { MetricLabels } from '../runs/evidence/step-execution.ts';
import { humanStep } from '../runs/human/human-step.ts';
import { newId } from '../runs/state/ids.ts';
import type { ConcurrencyGroups } from '../runs/run/concurrency-groups.ts';
import type { ConcurrencyGroup } from '../runs/state/concurrency-group.ts';
import { pipelineStep } from '../runs/run/pipeline-step.ts';
import type { ReplayDeps } from '../runs/replay/replay-deps.ts';
import { replaySequence } from '../runs/replay/replay-sequence.ts';
import type { Write } from '../runs/state/records.ts';
import type { PipelineEnv } from '../runs/prompt/rendering.ts';
import type { StepDeps } from '../runs/step/step.ts';
import type { StepKind } from '../runs/state/step-kind.ts';
import type { Templates } from '../runs/prompt/templates.ts';
import { webhookStep } from '../runs/step/webhook-step.ts';
import { askToCancel } from '../store/tables/replicas/claims.ts';
import type { Database } from '../store/db/database.ts';
import { perform } from '../store/db/write.ts';
import { readInterrupted, readStatus } from '../store/tables/interrupted.ts';
import { readOutcome } from '../store/tables/sub-runs/outcome.ts';
import { createRecordedReads } from '../store/tables/replay/recorded-runs.ts';
import { noteJudgement, noteUnreplayable, readBatch, readStep } from '../store/tables/replay/replays.ts';
import { runWrites } from '../store/tables/run-store.ts';
import { enterGroup } from '../store/tables/replicas/shared-concurrency.ts';
import type { Uses } from '../versions/uses.ts';

export interface EngineParts extends MetricLabels {
  config: Config;
  logs: Logs;
  failpoints: Failpoints;
  pipelineEnv: PipelineEnv;
  database: Database;
  hub: EventHub;
  capacity: Capacity;
  concurrencyGroups: ConcurrencyGroups;
  compute: Compute;
  templates: Templates;
  backends: AgentBackend[];
  registry: Registry;
  tenants: Pick<Tenants, 'egressAllowOf' | 'mayCall'>;
  dailyBytes: EngineDeps['dailyBytes'];
  definitionBytes: EngineDeps['definitionBytes'];
  approvals: Approvals;
  /** Null where artifacts are not stored. */
  artifacts: ArtifactStore | null;
  calibration: Pick<Calibration, 'meanOf'>;
  uses: Pick<Uses, 'note'>;
  /** False where other replicas may own the runs of this process; absent without other replicas. */
  holds?: (() => boolean) | undefined;
  priceOf: PriceOf;
  /** Additional writes of the transaction that ends a run. */
  endWrites?: EngineDeps['endWrites'];
  isToldInTexts?: EngineDeps['isToldInTexts'];
  traceRun?: EngineDeps['traceRun'];
}

const now = () => Date.now();
const delay = (milliseconds: number, signal: AbortSignal) => sleep(milliseconds, true, { signal }).catch(() => false);

/** Gives the engine its executors, its store and its clock. */
export function wireEngine(parts: EngineParts): Engine {
  const { database, hub, capacity, concurrencyGroups, registry, logs, failpoints } = parts;
  const kinds = new Map<string, StepKind>();
  const step = stepDeps(parts, kinds);
  const store = ({ owner }: Pick<ActiveRun, 'owner'>, writes: Write[]) =>
    database.write((tx) => {
      if (tx.epoch !== owner) throw new TakenOver();
      return perform(tx, writes);
    });
  const whileHeld = async (run: Pick<ActiveRun, 'owner'>, writes: Write[]) => {
    await store(run, writes);
    // The process may have been paused after the commit: the lease can be over by now.
    if (parts.holds?.() === false) throw new TakenOver();
  };
  const persist = parts.holds ? whileHeld : store;
  const late = async (run: Pick<ActiveRun, 'owner'>, writes: Write[]) => {
    void sleep(300).then(() => persist(run, writes));
  };
  const engine = createEngine({
    step,
    store: runWrites,
    persist: failpoints.stepRowLate ? late : persist,
    endWrites: (run, end) => [...parts.approvals.closeAll(run), ...(parts.endWrites?.(run, end) ?? [])],
    ...(parts.isToldInTexts && { isToldInTexts: parts.isToldInTexts }),
    readInterrupted: () => readInterrupted(database.db),
    ...(database.writeAs && {
      cancelElsewhere: (runId: string, by: string) => database.write((tx) => askToCancel(tx, runId, by)),
      enterShared: ({ id, owner }: ActiveRun, concurrencyGroup: ConcurrencyGroup) =>
        database.write(async (tx) => {
          if (tx.epoch !== owner) throw new TakenOver();
          return enterGroup(tx, concurrencyGroup, id);
        }),
    }),
    readStatus: (runId) => readStatus(database.db, runId),
    sequence: replaySequence(replayDeps(parts, step)),
    pipelineNamed: (name) => registry.current().byName.get(name),
    mayCall: parts.tenants.mayCall,
    dailyBytes: parts.dailyBytes,
    definitionBytes: parts.definitionBytes,
    readOutcome: (runId) => readOutcome(database.db, runId),
    capacity,
    concurrencyGroups,
    hub,
    log: logs.runs,
    ...(parts.traceRun && { traceRun: parts.traceRun }),
  });
  kinds.set('pipeline', pipelineStep({ runChild: engine.runChild, templates: step.templates, now }));
  return engine;
}

/** A batch of replays calls safe agents only; tool calls that need an approval are refused. */
function replayDeps(
  { database: { db }, compute, templates, config }: EngineParts,
  { backends: all }: Pick<StepDeps, 'backends'>,
): ReplayDeps {
  const { safeAgents } = config.replay;
  const backends = new Map([...all].map(([name, backend]) => [name, onlySafe(backend, safeAgents)]));
  return {
    readBatch: (runId) => readBatch(db, runId),
    ...createRecordedReads(db),
    readStep: (runId, name) => readStep(db, runId, name),
    backends,
    kinds: new Map(
      [...backends].map(([name, backend]) => [name, agentStep({ backend, approvals: null, compute, templates, now })]),
    ),
    noteUnreplayable,
    noteJudgement,
  };
}

const onlySafe = (backend: AgentBackend, safeAgents: readonly string[]): AgentBackend => ({
  ...backend,
  run: async (call) => {
    const name = `${backend.name}:${call.agent}`;
    return safeAgents.includes(name) ? backend.run(call) : failure('not_safe', `${name} is not in replay.safe_agents`);
  },
});

/** Checks the lease before a call leaves the process. When the lease is lost, the signal of the call is already aborted. */
function asked<A extends unknown[], R>(
  holds: EngineParts['holds'],
  call: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  if (!holds) return call;
  return (...args) => {
    holds();
    return call(...args);
  };
}

function stepDeps(
  {
    config,
    logs,
    pipelineEnv: env,
    backends: configured,
    compute,
    templates,
    approvals,
    calibration,
    uses,
    priceOf,
    modelLabel,
    teamLabel,
    failpoints,
    holds,
    artifacts,
    tenants,
  }: EngineParts,
  kinds: Map<string, StepKind>,
): Omit<StepDeps, 'flush' | 'prompts' | 'answers'> {
  const outward = <A extends unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
    surround(failpoints, name, asked(holds, call));
  const http = outward('http', tenantHttp(config.security.egressAllow, tenants.egressAllowOf));
  const backends = configured.map((backend) => ({ ...backend, run: outward(backend.name, backend.run) }));
  for (const backend of backends) kinds.set(backend.name, agentStep({ backend, approvals, templates, compute, now }));
  kinds.set('webhook', webhookStep({ http, templates, env, now }));
  kinds.set('human', humanStep({ templates, approvals, now }));
  return {
    kinds,
    compute,
    templates,
    env,
    http,
    unapproved: (run, row) => untilAnswered({ delay }, run, () => approvals.unapproved(run, row)),
    shell: config.security.allowShellChecks ? outward('shell', shellExecutor) : null,
    backends: new Map(backends.map((backend) => [backend.name, backend])),
    calibratedMean: calibration.meanOf,
    noteUse: uses.note,
    keepArtifacts: async (run, stepName, kept) => {
      const note = (message: string) => run.journal.add('warn', 'artifact_left_out', message, { step_name: stepName });
      // A folder that cannot be written to loses the files, not the run.
      const keeping = artifacts && untilAnswered({ delay }, run, () => artifacts.keep(run.id, stepName, kept));
      const result = await keeping?.catch((error: unknown) => {
        if (error instanceof Stopped) throw error;
        logs.log.error({ run_id: run.id, err: error }, 'artifacts could not be stored');
        note('artifacts could not be stored; the service log says why');
      });
      if (!result || result.leftOut.length === 0) return;
      note(`artifacts too large or too many were left out: ${result.leftOut.join(', ')}`);
    },
    priceOf,
    ...(modelLabel && { modelLabel }),
    ...(teamLabel && { teamLabel }),
    store: runWrites,
    now,
    newId,
    delay,
  };
}

/** The configured backends. */
export function createBackends({ executors }: Config): AgentBackend[] {
  const backend = (name: 'gateway' | 'external') => {
    const settings = executors[name];
    if (settings === null) return [];
    const { url, token, ca } = settings;
    return [agentBackend(name, new WebSocketRpc({ url: rpcUrl(url), token, ca: ca ?? undefined }))];
  };
  return [...backend('gateway'), ...backend('external')];
}

/** Adds `/rpc`, the route of the protocol, where the configured URL has no path. */
function rpcUrl(text: string): string {
  const url = new URL(text);
  if (url.pathname === '/' || url.pathname === '') url.pathname = '/rpc';
  return url.href;
}
