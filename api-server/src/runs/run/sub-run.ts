import { childId } from '../state/ids.ts';
import { LIMITS, type SubContext } from '@signalbox/crds';
import type { LoadedPipeline } from '../../definitions/snapshot.ts';
import { activate } from './activate.ts';
import type { DefinitionBytes } from '../state/definition-bytes.ts';
import type { Author } from '../../definitions/tenants.ts';
import { type ActiveRun, authorOf, type Slot } from '../state/active-run.ts';
import { heldBytes } from '../state/held.ts';
import { stopReason } from '../state/stopped.ts';
import { untilAnswered } from '../state/until-answered.ts';
import { finish, type EndingDeps } from './ending.ts';
import type { EventHub } from '../state/events.ts';
import { fitFields, noteCutFields } from '../state/field-sizes.ts';
import { concurrencyGroupOf } from './concurrency-groups.ts';
import { inConcurrencyGroup, type InGroupDeps } from './in-concurrency-group.ts';
import { charsOf, LEFT_OUT, roomTogether } from '../state/held.ts';
import type { Failure } from '../state/executor.ts';
import type { TriggerContext } from '../state/model.ts';
import { newRunRow, teamOf } from '../state/new-run.ts';
import { dropBranches, topOf } from '../state/workers.ts';
import { runDeadline } from './run-deadline.ts';
import { type Interrupted, restore, withRoom } from './resume.ts';
import type { RunOutcome } from './sequence.ts';
import type { Shares } from '../state/shares.ts';
import type { PromptRoom } from '../state/prompt-room.ts';
import type { AnswerRoom } from '../step/answer-room.ts';
import type { TraceRun } from '../state/span.ts';
import type { Templates } from '../prompt/templates.ts';

/** What became of a sub-run, for the step that started it. */
export interface ChildOutcome {
  runId: string;
  status: string;
  trust: number | null;
  message: string | null;
  outputs: Record<string, unknown>;
}

export interface SubRunDeps extends EndingDeps, InGroupDeps {
  pipelineNamed(name: string): LoadedPipeline | undefined;
  /** Whether a run may start another pipeline. */
  mayCall(caller: Author, called: LoadedPipeline): boolean;
  definitionBytes: Pick<DefinitionBytes, 'count'>;
  /** The stored end of a run that this process did not see; null for an unknown or a live one. */
  readOutcome(runId: string): Promise<ChildOutcome | null>;
  hub: EventHub;
  hold(run: ActiveRun, work: (run: ActiveRun) => Promise<void>): Promise<void>;
  answers: AnswerRoom;
  prompts: PromptRoom;
  /** What runs that have not ended hold, in bytes. */
  memory: Shares;
  templates: Templates;
  traceRun?: TraceRun;
}

export type RenderedContext = { ok: true; value: SubContext } | Failure;

export interface ChildRequest {
  parent: ActiveRun;
  /** Of the step that asks: a sub-run runs in its parent's slot. */
  slot: Slot;
  stepName: string;
  pipeline: string;
  /** What it leaves out comes from the parent; it counts where the sub-run is not stored yet. */
  context: RenderedContext;
  signal: AbortSignal;
}

/** Why no sub-run began. */
export interface Refused {
  refused: { type: string; message: string };
}

export interface SubRuns {
  run(request: ChildRequest): Promise<ChildOutcome | Refused>;
  /** Sub-runs of an earlier process; their parents ask for them again. */
  remember(children: Interrupted[]): void;
  /** Those below a run that its steps have not asked for. */
  forget(parentId: string): Interrupted[];
}

/** Deepest level of sub-runs; loading refuses more, reloads in between could still make it. */
const MAX_DEPTH = LIMITS.subPipelineDepth;

/** Runs pipelines on behalf of steps: a run of their own, in their parent's slot, cancelled with it. */
export function createSubRuns(deps: SubRunDeps): SubRuns {
  const interrupted = new Map<string, Interrupted>();
  /** How many sub-runs of a run, and theirs, began in this process. */
  const begun = new WeakMap<ActiveRun, number>();
  return {
    remember: (children) => {
      for (const child of children) interrupted.set(child.id, child);
    },
    forget: (parentId) => {
      const children = interrupted
        .values()
        .filter(({ parentRunId }) => parentRunId === parentId)
        .toArray();
      for (const { id } of children) interrupted.delete(id);
      return children;
    },
    run: async (request) => {
      const id = childId(request.parent.id, request.stepName);
      const known = await untilAnswered(deps, request.parent, () => deps.readOutcome(id));
      if (known) return known;
      const stored = interrupted.get(id);
      const top = topOf(request.parent);
      const before = begun.get(top) ?? 0;
      // About what it will hold. Counted before it is stored, so that many that begin at once do not go past the bound.
      const bytes = heldBytes(request.parent.context) + JSON.stringify(request.context).length;
      const tooMany = before >= LIMITS.subRuns || !deps.memory.fits(top, bytes);
      if (tooMany && !stored) return refuse('too_many_sub_runs', TOO_MANY);
      begun.set(top, before + 1);
      deps.memory.add(top, bytes);
      try {
        const child = await childRun(deps, request, { id, stored });
        interrupted.delete(id);
        return 'controller' in child ? await supervise(deps, request, child) : child;
      } finally {
        deps.memory.add(top, -bytes);
      }
    },
  };
}

/** A fan-out multiplies sub-runs at each level, and all of them are part of one run. */
const TOO_MANY = `one run has at most ${LIMITS.subRuns} sub-runs at all levels together, and fewer where those that have not ended, or all runs of its namespace, hold too much memory`;

interface Existing {
  id: string;
  stored: Interrupted | undefined;
}

async function childRun(
  deps: SubRunDeps,
  request: ChildRequest,
  { id, stored }: Existing,
): Promise<ActiveRun | ChildOutcome | Refused> {
  const { parent, slot, context } = request;
  const place = { slot, parent };
  if (stored) return takeUp(deps, stored, place);
  if (!context.ok) return refuse(context.type, context.message);
  const pipeline = deps.pipelineNamed(request.pipeline);
  if (!pipeline) return refuse('missing_pipeline', `no pipeline is named "${request.pipeline}"`);
  if (!deps.mayCall(authorOf(parent), pipeline))
    return refuse('not_allowed', `pipeline ${pipeline.name} belongs to another namespace`);
  if (pipeline.config.suspend) return refuse('suspended', `pipeline ${pipeline.name} is suspended`);
  if (parent.depth >= MAX_DEPTH) return refuse('too_deep', `sub-pipelines go ${MAX_DEPTH} deep and no deeper`);
  const full = deps.definitionBytes.count(pipeline);
  if (full) return refuse(full.type, full.message);
  return create(deps, context.value, { id, pipeline, ...place });
}

/** Goes on with it, or ends it as its own `durable` says. */
async function takeUp(
  deps: SubRunDeps,
  { read }: Interrupted,
  place: { slot: Slot; parent: ActiveRun },
): Promise<ActiveRun | ChildOutcome> {
  const stored = await untilAnswered(deps, place.parent, read);
  const concurrencyGroup = concurrencyGroupOf(deps.templates, stored);
  const restored = withRoom(deps, restore(deps.hub, stored, { now: deps.now(), ...place, concurrencyGroup }));
  const { run } = restored;
  if (deps.traceRun) run.span = deps.traceRun(run);
  if (restored.go) {
    run.journal.add('warn', 'run_resumed', 'the run was resumed after a restart');
    return run;
  }
  const { outcome } = restored;
  await deps.hold(run, () => finish(deps, run, outcome));
  const stopped = stopReason(run.controller.signal);
  if (stopped?.why === 'shutdown') throw stopped;
  return { runId: run.id, status: outcome.status, trust: run.trust, message: outcome.error.message, outputs: {} };
}

const refuse = (type: string, message: string): Refused => ({ refused: { type, message } });

interface Fresh extends Pick<ActiveRun, 'slot'> {
  parent: ActiveRun;
  id: string;
  pipeline: LoadedPipeline;
}

async function create(deps: SubRunDeps, over: SubContext, { id, pipeline, ...place }: Fresh): Promise<ActiveRun> {
  const { parent } = place;
  const context = childContext(parent.context, over, pipeline.name);
  // A team says who approves, so the author of a namespace with limits chooses none.
  const given = parent.namespace === null ? over.team : undefined;
  const team = teamOf(pipeline, given ?? parent.team);
  const now = deps.now();
  const row = newRunRow({ pipeline, context, team, dedupKey: null }, { id, status: 'running', now });
  // What a testing run starts is no evidence of production.
  const stage = parent.stage === 'testing' ? 'testing' : pipeline.config.stage;
  const stored = deps.store.insertChild({ ...row, stage, parent_run_id: parent.id }, pipeline);
  await untilAnswered(deps, parent, () => deps.persist(parent, [stored]));
  const concurrencyGroup = concurrencyGroupOf(deps.templates, { pipeline: pipeline.config, context, team });
  const run = activate(
    deps.hub,
    { id, pipeline, context, team, stage, triggeredAt: now, concurrencyGroup, owner: parent.owner, prior: [] },
    { ...place, concurrencyGroup },
  );
  if (deps.traceRun) run.span = deps.traceRun(run);
  run.journal.add('info', 'run_started', `run of ${pipeline.name} started by ${parent.pipeline.name}`, {
    parent_run_id: parent.id,
  });
  noteCutFields(run);
  return run;
}

function childContext(context: TriggerContext, over: SubContext, pipeline: string): TriggerContext {
  return fitFields({
    ...context,
    source: 'pipeline',
    pipeline,
    summary: over.summary ?? context.summary,
    severity: over.severity ?? context.severity,
    labels: { ...context.labels, ...over.labels },
    metadata: { ...context.metadata, ...over.metadata },
    fingerprint: null,
    raw: null,
  });
}

/** Runs the child; the parent's end is the child's, the child's own cancellation is not the parent's. */
async function supervise(deps: SubRunDeps, { signal }: ChildRequest, child: ActiveRun): Promise<ChildOutcome> {
  using _ = runDeadline(child, deps.now(), signal);
  let outcome: RunOutcome | null = null;
  await deps.hold(child, async (run) => {
    outcome = await inConcurrencyGroup(deps, run);
    await finish(deps, run, outcome);
  });
  dropBranches(child);
  const stopped = stopReason(child.controller.signal);
  if (outcome === null && stopped?.why === 'shutdown') throw stopped;
  const { status, error } = outcome ?? { status: 'failed', error: { message: 'an internal error ended the sub-run' } };
  const hasRoom = roomTogether();
  const outputs = [...child.results].map(([name, view]) => [name, hasRoom(charsOf(view)) ? view.output : LEFT_OUT]);
  return {
    runId: child.id,
    status,
    trust: child.trust,
    message: error?.message ?? null,
    outputs: Object.fromEntries(outputs),
  };
}
