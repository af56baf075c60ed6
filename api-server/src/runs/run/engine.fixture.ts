import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileMatch, resolveSet } from '@signalbox/crds';
import { type Approvals, createApprovals } from '../../service/approvals/approvals.ts';
import { wireCalibration } from '../../boot/calibration.ts';
import type { Config } from '../../config/config.ts';
import type { LoadedPipeline } from '../../definitions/snapshot.ts';
import { wireEngine, type EngineParts } from '../../boot/engine.ts';
import { readFailpoints } from '../../boot/failpoints.ts';
import type { Tracing } from '../../observability/otel.ts';
import type { Database } from '../../store/db/database.ts';
import { readEvents } from '../../store/tables/event-writes.ts';
import { newTestDatabase } from '../../store/fixtures/test-database.ts';
import { insertRun, keepDefinition } from '../../store/tables/run-writes.ts';
import { findRun, runDetail, type RunDetail } from '../../store/tables/run-detail.ts';
import { type Capacity, createCapacity } from './capacity.ts';
import { type ModelPrice, priceList } from '../state/cost.ts';
import { createLanes } from './lanes.ts';
import { createTexts } from '../prompt/texts.ts';
import type { Uses } from '../../versions/uses.ts';
import { wireVersions } from '../../boot/versions.ts';
import type { Engine } from './engine.ts';
import { createEventHub, type EventHub } from '../state/events.ts';
import type { AgentBackend, AgentCall, AgentReply, Failure } from '../state/executor.ts';
import { newId } from '../state/ids.ts';
import type { StepExecution, TriggerContext } from '../state/model.ts';
import { newRunRow } from '../state/new-run.ts';

/** What a fake agent says: an answer object, a failure, or whatever the call makes of it. */
export type Script = (
  call: AgentCall,
) => Record<string, unknown> | Failure | Promise<Record<string, unknown> | Failure>;

export interface World {
  engine: Engine;
  database: Database;
  hub: EventHub;
  approvals: Approvals;
  capacity: Capacity;
  uses: Uses;
  calls: AgentCall[];
  pipelines: Map<string, LoadedPipeline>;
  /** Starts a run of the named pipeline and waits for its end. */
  run(pipeline: string, context?: Partial<TriggerContext>): Promise<Ended>;
  start(pipeline: string, context?: Partial<TriggerContext>, state?: 'running' | 'queued'): Promise<string>;
  ended(runId: string): Promise<Ended>;
  /** A second engine on the same database, as after a restart. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface Ended extends RunDetail {
  step(name: string): StepExecution;
  events: string[];
}

export interface WorldOptions {
  /** YAML texts of the pipelines. */
  pipelines: string[];
  agents?: Record<string, Script>;
  allowShell?: boolean;
  egressAllow?: string[];
  maxRuns?: number;
  pricing?: ModelPrice[];
  artifactsDir?: string;
  tracing?: Pick<Tracing, 'run' | 'event'>;
}

export const CONTEXT: TriggerContext = {
  source: 'generic',
  pipeline: null,
  severity: 'critical',
  labels: { service: 'checkout' },
  annotations: {},
  summary: 'the checkout is slow',
  fingerprint: null,
  metadata: { region: 'eu' },
  raw: { some: 'payload' },
  receivedAt: 0,
};

const QUIET = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const PLAIN_ENV = {
  valueOf: (name: string) => (name === 'ALLOWED' ? 's3cret-value' : undefined),
  mask: (text: string) => text.replaceAll('s3cret-value', '***'),
};

/** A test may move the clock. */
const now = () => Date.now();

/** An engine with a real database and agents that are functions. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-engine-'));
  const site = await newTestDatabase();
  const pipelines = load(options.pipelines);
  const calls: AgentCall[] = [];
  const backend = fakeBackend(options.agents ?? {}, calls);
  const open = async () => {
    const database = await site.open({ now });
    const hub = createEventHub({
      readStored: (id, after) => readEvents(database.db, id, after),
      now,
      observe: () => undefined,
      ...(options.tracing && { trace: options.tracing.event }),
    });
    const approvals = createApprovals({ database, announce: () => [], now });
    const capacity = createCapacity(options.maxRuns ?? 10);
    const config = configOf(options, folder);
    const { uses } = wireVersions({ database, log: QUIET, ask: () => Promise.resolve({ kind: 'not_configured' }) });
    const engine = wireEngine({
      config,
      calibration: wireCalibration(config, database),
      uses,
      logs: { log: QUIET, runs: QUIET },
      failpoints: readFailpoints(undefined),
      pipelineEnv: PLAIN_ENV,
      database,
      hub,
      capacity,
      approvals,
      priceOf: priceList(options.pricing ?? []),
      lanes: createLanes(),
      texts: createTexts({ sandbox: true }),
      backends: [backend],
      registry: { current: () => ({ byName: pipelines }) },
      traceRun: options.tracing?.run,
    } as unknown as EngineParts);
    return { database, hub, engine, approvals, capacity, uses };
  };
  const world = { ...(await open()), calls, pipelines } as World;
  const ended = async (runId: string): Promise<Ended> => {
    await end(world.hub, runId, world.database);
    const detail = (await runDetail(world.database.db, runId, { raw: false })) as RunDetail;
    const events = await readEvents(world.database.db, runId, 0);
    const step = (name: string) => {
      const found = detail.steps.find(({ stepName }) => stepName === name);
      if (!found) throw new Error(`no step ${name} among ${detail.steps.map(({ stepName }) => stepName).join(', ')}`);
      return found;
    };
    return { ...detail, step, events: events.map(({ event }) => event) };
  };
  const start: World['start'] = (pipeline, context = {}, state = 'running') =>
    begin(world, { pipeline, state }, { ...CONTEXT, ...context });
  return Object.assign(world, {
    start,
    ended,
    run: async (pipeline: string, context?: Partial<TriggerContext>) => ended(await start(pipeline, context)),
    restart: async () => {
      await world.engine.drain(0);
      await world.uses.flush();
      await world.database.close();
      Object.assign(world, await open());
    },
    close: async () => {
      await world.engine.drain(0);
      await world.uses.flush().catch(() => undefined);
      await world.database.close();
      await site.remove();
      rmSync(folder, { recursive: true });
    },
  });
}

function load(texts: string[]): Map<string, LoadedPipeline> {
  const set = resolveSet({
    pipelines: texts.map((text, at) => ({ file: `${at}.yaml`, text })),
    steps: [],
    operator: { allow_shell_checks: true },
  });
  const errors = set.problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw new Error(errors.map(({ file, loc, msg }) => `${file} ${loc.join('.')}: ${msg}`).join('\n'));
  return new Map(set.pipelines.map((pipeline) => [pipeline.name, { ...pipeline, match: compileMatch({}) }]));
}

function configOf(
  { allowShell = false, egressAllow = [], artifactsDir }: WorldOptions,
  folder: string,
): Pick<Config, 'artifacts' | 'calibration' | 'security'> {
  return {
    artifacts: { dir: artifactsDir ?? join(folder, 'artifacts'), retentionDays: 7 },
    calibration: { nMin: 2, binWidth: 0.1, cacheTtlSeconds: 0 },
    security: { allowShellChecks: allowShell, templateSandbox: true, pipelineEnv: ['ALLOWED'], egressAllow },
  };
}

function fakeBackend(agents: Record<string, Script>, calls: AgentCall[]): AgentBackend {
  return {
    name: 'gateway',
    run: async (call) => {
      calls.push(call);
      const script = agents[call.agent];
      if (!script) return { ok: false, type: 'not_found', message: `no agent ${call.agent}`, retryable: false };
      const said = await script(call);
      return 'ok' in said ? (said as Failure) : reply(said);
    },
    list: () => Promise.resolve({ ok: true, agents: [] }),
    close: () => undefined,
  };
}

const reply = (answer: Record<string, unknown>): AgentReply => ({
  ok: true,
  text: JSON.stringify(answer),
  output: answer,
  stopReason: 'end',
  model: 'm',
  provider: 'p',
  agentVersion: 'v1',
  usage: { inputTokens: 10, outputTokens: 5 },
  iterations: 1,
  toolCalls: 0,
  durationMs: 7,
  trace: [],
});

/** A plain answer of that confidence. */
export const sure = (confidence: number, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  confidence,
  summary: 'looked',
  ...more,
});

/** Resolves when the signal of the call fires: an agent that never answers. */
export const hang: Script = ({ signal }) =>
  new Promise((resolve) => {
    const stop = () =>
      resolve({ ok: false, type: 'cancelled', message: 'stopped', retryable: false } satisfies Failure);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });

async function begin(
  world: World,
  { pipeline: name, state }: { pipeline: string; state: 'running' | 'queued' },
  context: TriggerContext,
): Promise<string> {
  const pipeline = world.pipelines.get(name);
  if (!pipeline) throw new Error(`no pipeline ${name}`);
  const at = now();
  const id = newId(at);
  await world.database.write(async (tx) => {
    await keepDefinition(tx, {
      hash: pipeline.hash,
      kind: 'Pipeline',
      name,
      body: JSON.stringify(pipeline.config),
      stored_at: at,
    });
    await insertRun(
      tx,
      newRunRow({ pipeline, context, team: 'payments', dedupKey: null }, { id, status: state, now: at }),
    );
  });
  world.engine.begin(
    {
      id,
      pipeline,
      context,
      team: 'payments',
      stage: pipeline.config.stage,
      triggeredAt: at,
      lane: null,
      owner: null,
      prior: [],
    },
    state,
  );
  return id;
}

/** Resolves once the run has ended, and nobody reads for this any more. */
async function end(hub: EventHub, runId: string, { db }: Database): Promise<void> {
  const { promise: told, resolve } = Promise.withResolvers<void>();
  const stop = hub.subscribe(runId, (frame) => {
    if ('type' in frame && frame.type === 'run_complete') resolve();
  });
  const found = await findRun(db, runId);
  if (found?.completedAt == null) await told;
  stop();
}
