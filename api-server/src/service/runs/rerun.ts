import { AppError } from '@signalbox/crds';
import type { Snapshot } from '../../definitions/snapshot.ts';
import { type Original, planRerun, type ReadyRerun, type Rerun, subRunsToRead } from '../../runs/run/rerun.ts';
import { viewAhead } from '../../runs/run/step-view.ts';
import { chargedOfAll, MAX_ANSWERS } from '../../runs/state/charged.ts';
import type { TriggerContext } from '../../runs/state/model.ts';
import type { RunRequest } from '../../runs/state/new-run.ts';
import type { Database, Tx } from '../../store/db/database.ts';
import { namespaceOfRun } from '../../store/tables/replicas/tenant-load.ts';
import { executedSteps, runStart } from '../../store/tables/run-start.ts';
import { bytesOfRuns } from '../../store/tables/bodies/text-sizes.ts';
import { findApprovals } from '../../store/tables/approvals.ts';
import { askedBelow, bytesBelow } from '../../store/tables/sub-runs/asked-below.ts';
import type { Decided } from '../../triggers/coverage.ts';
import { isStarted, type Verdict } from '../../triggers/model.ts';
import type { Actor } from '../actor.ts';
import type { Approvals } from '../approvals/approvals.ts';
import { recordIn } from '../audit/record.ts';
import { AtCapacity } from '../deliveries/at-capacity.ts';
import { unknownId } from '../fields.ts';
import { heldByNone } from '../reading/held.ts';
import type { Reading } from '../reading/reading-room.ts';
import type { RerunStarted } from '../views/run.ts';
import { judgeApprovals } from './judge-approvals.ts';

export interface RerunDeps {
  database: Pick<Database, 'db'>;
  definitions(): Snapshot;
  approvals: Pick<Approvals, 'rules'>;
  /** `alongside` is a further write of its transaction. */
  intake(
    requests: Omit<RunRequest, 'dedupKey'>[],
    alongside: (tx: Tx, decided: Decided[]) => Promise<void>,
  ): Promise<Verdict[]>;
  now(): number;
  reading: Reading;
}

interface Asked {
  id: string;
  /** A top-level step; null for the start of the pipeline. */
  fromStep: string | null;
  actor: Actor;
}

/** Of a run whose results a rerun takes over: each rerun of a rerun would be larger than the one before. */
const MOST_BYTES = 64 * 1024 * 1024;
const TOO_LARGE =
  'prompts and answers of the run take more than 64 MiB, which no rerun takes over; rerun it from the start, without from_step';
/** The rerun could not answer anything. */
const TOO_MUCH =
  'answers of the steps before it take more than 16 MiB, which no rerun takes over; rerun it from an earlier step, or from the start';

/**
 * Reads the original run, plans the rerun, and passes the new run to intake like any other (Orchestration 4.1). What it reads of steps
 * has room until the run is started, not until the answer is taken: one request may rerun many.
 */
export async function rerun(deps: RerunDeps, asked: Asked): Promise<RerunStarted> {
  if (asked.fromStep === null) return startAgain(deps, asked);
  const { db } = deps.database;
  const bytes = await bytesOfRuns(db, [asked.id]);
  if (bytes > MOST_BYTES) throw new AppError('validation', TOO_LARGE);
  const below = await bytesBelow(db, asked.id);
  return heldByNone(() => deps.reading(bytes + below, () => startAgain(deps, asked)));
}

async function startAgain(deps: RerunDeps, { id, fromStep, actor }: Asked): Promise<RerunStarted> {
  const definitions = deps.definitions();
  const found = await readOriginal(deps, id, fromStep !== null);
  const subRuns = fromStep === null ? [] : subRunsToRead(definitions, found, fromStep);
  const original = { ...found, below: await askedBelow(deps.database.db, subRuns) };
  const plan = planRerun(definitions, original, fromStep);
  if (plan.kind !== 'ready') throw refusal(plan);
  const approved = await approvedIds(deps, plan, actor);
  const audited = async (tx: Tx, [decided]: Decided[]) => {
    if (!decided || !isStarted(decided.verdict)) return;
    const { runId, status } = decided.verdict;
    const outcome = `${status}${namesOf(approved)}`;
    await recordIn(tx, actor, deps.now(), { action: 'rerun', targetType: 'run', target: id, runId, outcome });
  };
  const { prior = [] } = plan.request;
  await viewAhead(prior);
  if (chargedOfAll(prior) > MAX_ANSWERS) throw new AppError('validation', TOO_MUCH);
  const [verdict] = await deps.intake([{ ...plan.request, startedBy: actor.name }], audited);
  // It has no fingerprint and its pipeline was found, so it starts, is queued, or finds no free slot.
  if (verdict?.status === 'at_capacity') throw new AtCapacity(verdict);
  if (!verdict || !isStarted(verdict)) throw new AppError('unavailable', 'the run could not be started; try again');
  const { runId, status } = verdict;
  return {
    status,
    run_id: runId,
    original_run_id: id,
    from_step: plan.fromStep,
    prior_steps_loaded: plan.priorSteps,
  };
}

/** Approvals that the audit log names; the steps of the run have all of them. */
const MAX_NAMED = 20;

function namesOf(ids: readonly string[]): string {
  if (ids.length === 0) return '';
  const more = ids.length - MAX_NAMED;
  return ` with approval ${ids.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Approvals that are read at once: the branches of a run may have asked thousands of questions, each of them long. */
const READ_AT_ONCE = 50;

/** Judges what the new run takes over, and names the approvals among it. */
async function approvedIds(
  { database, approvals: { rules }, definitions }: RerunDeps,
  { approvals: taken, request }: ReadyRerun,
  { name: starter }: Actor,
): Promise<string[]> {
  const { byName } = definitions();
  const isProduction = (pipeline: string) =>
    request.pipeline.config.stage === 'production' && byName.get(pipeline)?.config.stage !== 'testing';
  const approved: string[] = [];
  for (let start = 0; start < taken.length; start += READ_AT_ONCE) {
    const part = taken.slice(start, start + READ_AT_ONCE);
    const stored = await findApprovals(
      database.db,
      part.map(({ id }) => id),
    );
    judgeApprovals(part, stored, { starter, rules, isProduction });
    approved.push(...[...stored.values()].filter(({ status }) => status === 'approved').map(({ id }) => id));
  }
  return approved;
}

async function readOriginal(
  { database: { db } }: RerunDeps,
  id: string,
  isPartial: boolean,
): Promise<Omit<Original, 'below'>> {
  const found = await runStart(db, id);
  if (!found) throw unknownId('run');
  // Its pipeline would run for real, and its steps with effects with it.
  if (found.isReplay) throw new AppError('conflict', 'the run is a replay; launch another replay instead');
  const { run, context, raw } = found;
  return {
    id,
    status: run.status,
    pipelineName: run.pipelineName,
    stage: run.stage,
    context: { ...(context as unknown as TriggerContext), raw: raw ?? null },
    namespace: await namespaceOfRun(db, id),
    steps: isPartial ? await executedSteps(db, id) : [],
  };
}

function refusal(plan: Exclude<Rerun, { kind: 'ready' }>): AppError {
  switch (plan.kind) {
    case 'running':
      return new AppError('conflict', 'the run has not ended; cancel it first');
    case 'suspended':
      return new AppError('conflict', 'the pipeline is suspended; resume it first');
    case 'invalid':
      return new AppError('validation', plan.message);
    default:
      return plan satisfies never;
  }
}
