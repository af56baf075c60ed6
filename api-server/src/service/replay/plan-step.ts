import { limitedNamespace, type Pipeline, promptHash } from '@signalbox/crds';
import type { ReplayConfig } from '../../config/config.ts';
import type { LoadedPipeline, Snapshot } from '../../definitions/snapshot.ts';
import {
  asksAgent,
  candidateStep,
  leaveOutChecks,
  replayPipeline,
  stepNamed,
} from '../../runs/replay/candidate-step.ts';
import type { Templates } from '../../runs/prompt/templates.ts';
import type { Outcome } from '../../runs/state/model.ts';
import type {
  Candidate,
  RecordedLabelSource,
  ReplayBucket,
  ReplayMode,
  ReplaySource,
  StepReplay,
} from '../../runs/state/replay.ts';
import { executionsById, type LabelledExecution } from '../../store/aggregates/replay-samples.ts';
import type { Database } from '../../store/db/database.ts';
import { runDefinition } from '../../store/tables/definitions.ts';
import { namespaceOfRun } from '../../store/tables/replicas/tenant-load.ts';
import type { LaunchKey } from '../../store/tables/replay/replays.ts';
import { notReplayed } from './not-replayed.ts';
import { badField } from './refusals.ts';
import { requireReplay, requireSafe } from './safe-agents.ts';
import type { Batch } from './start-batch.ts';

export interface PlanDeps {
  database: Pick<Database, 'db'>;
  definitions(): Pick<Snapshot, 'pipelines' | 'byName'>;
  replaySettings: ReplayConfig;
  templates: Pick<Templates, 'problemOf'>;
}

/** A recorded execution to replay. With an outcome its label is pinned: later marks of the execution do not change it. */
export interface ChosenSample {
  /** The id of the row. */
  stepId: string;
  outcome?: Outcome;
  labelSource?: RecordedLabelSource;
}

/** A batch over an explicit list of samples of one step. */
export interface BatchRequest {
  stepName: string;
  samples: readonly ChosenSample[];
  candidate: Candidate;
  mode: ReplayMode;
  source: ReplaySource;
  /** What the candidate changes: the step as the newest sample ran it, or as it is loaded now. */
  base: 'recorded' | 'loaded';
  /** Where the samples are from; absent where they were chosen one by one. */
  bucket?: ReplayBucket;
  k?: number;
  launch?: LaunchKey | null;
}

/** Checks a batch and makes its definition. Throws `forbidden` and `unprocessable`. */
export async function planStep(deps: PlanDeps, request: BatchRequest): Promise<Batch> {
  const { replaySettings: settings } = deps;
  requireReplay(settings);
  const known = await executionsById(
    deps.database.db,
    request.samples.map(({ stepId }) => stepId),
  );
  const executions = request.samples.flatMap(({ stepId }) => known.get(stepId) ?? []);
  const { pipeline, step, namespace } = await baseOf(deps, request, executions);
  const { stepName, candidate, mode } = request;
  const agent = candidate.agent ?? step.agent;
  requireSafe(settings, [...executions, step, { executor: step.executor, agent }]);
  checkTemplate(deps.templates, candidate, ['body', 'candidate', 'prompt_template']);
  checkMode(request, promptHash(step.prompt_template));
  const runIds = executions.map(({ runId }) => runId);
  const { step: replayed, checksNotRun } = leaveOutChecks(
    candidateStep(step, stepName, candidate),
    await notReplayed(deps, { name: pipeline.name, namespace }, runIds),
  );
  return {
    source: request.source,
    replay: {
      kind: 'step',
      stepName,
      mode,
      bucket: request.bucket ?? null,
      candidate,
      k: request.k ?? request.samples.length,
      judge: settings.judge,
      checksNotRun,
    } satisfies StepReplay,
    samples: request.samples.map((chosen) => sampleOf(chosen, known.get(chosen.stepId))),
    pipeline: replayPipeline(pipeline, [{ ...replayed, when: undefined }]),
    launch: request.launch ?? null,
  };
}

function sampleOf({ stepId, outcome, labelSource }: ChosenSample, known: LabelledExecution | undefined) {
  const pinned = outcome !== undefined;
  return {
    stepId,
    sourceRunId: known?.runId ?? null,
    outcome: outcome ?? known?.outcome ?? null,
    labelSource: (pinned ? labelSource : known?.labelSource) ?? null,
    pinned,
  };
}

/** The step that the candidate changes, and its pipeline. */
async function baseOf(deps: PlanDeps, request: BatchRequest, executions: readonly LabelledExecution[]) {
  const { stepName } = request;
  const found = await definitionOf(deps, request, executions);
  const step = found && stepNamed(found.pipeline.steps, stepName);
  if (!step) throw badField(['path', 'step_name'], `no definition of step "${stepName}" is known`);
  if (!asksAgent(step)) throw badField(['path', 'step_name'], `step "${stepName}" asks no agent`);
  return { ...found, step };
}

/** With the namespace of its author; null for one without limits. */
async function definitionOf(
  deps: PlanDeps,
  { stepName, base }: BatchRequest,
  executions: readonly LabelledExecution[],
) {
  const { db } = deps.database;
  const [newest] = executions;
  const recorded = base === 'recorded' && newest ? await runDefinition(db, newest.runId) : null;
  if (newest && recorded)
    return { pipeline: recorded as unknown as Pipeline, namespace: await namespaceOfRun(db, newest.runId) };
  const loaded = await loadedWith(deps, stepName, executions);
  return loaded && { pipeline: loaded.config, namespace: limitedNamespace(loaded.standing) };
}

/** Of the author whose pipeline ran it, else of the same namespace: a step of this name that somebody else wrote is another step. */
async function loadedWith(
  { database: { db }, definitions }: PlanDeps,
  stepName: string,
  executions: readonly LabelledExecution[],
) {
  const { pipelines, byName } = definitions();
  const having = ({ config }: LoadedPipeline) => stepNamed(config.steps, stepName) !== null;
  for (const { pipelineName, runId } of executions) {
    const own = byName.get(pipelineName);
    if (own && having(own) && limitedNamespace(own.standing) === (await namespaceOfRun(db, runId))) return own;
  }
  const [newest] = executions;
  // Where every execution is gone, there is none to replay.
  if (!newest) return pipelines.find(having);
  const namespace = await namespaceOfRun(db, newest.runId);
  return pipelines.find((loaded) => limitedNamespace(loaded.standing) === namespace && having(loaded));
}

/** Refuses a template that cannot be compiled. */
export function checkTemplate(
  templates: Pick<Templates, 'problemOf'>,
  { promptTemplate }: Candidate,
  loc: (string | number)[],
): void {
  if (promptTemplate === undefined) return;
  const problem = templates.problemOf(promptTemplate);
  if (problem !== null) throw badField(loc, problem);
}

/** The recorded prompt can be sent again only where its template stays (Orchestration 4.6, rule 2). */
export function checkMode({ mode, candidate, bucket }: BatchRequest, recordedHash: string | null = null): void {
  if (mode === 'rerender' || candidate.promptTemplate === undefined) return;
  if (promptHash(candidate.promptTemplate) !== (bucket?.promptHash ?? recordedHash))
    throw badField(['body', 'mode'], 'must be rerender where the candidate changes prompt_template');
}
