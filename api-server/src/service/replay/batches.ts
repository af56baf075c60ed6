import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { seenMembers } from '../../store/tables/replay/golden-members.ts';
import { findGoldenSet } from '../../store/tables/replay/golden-sets.ts';
import { listBatches } from '../../store/tables/replay/replay-batches.ts';
import type { Actor } from '../actor.ts';
import type { RecordAction } from '../audit/record.ts';
import { count, DefinitionName, RunId, unknownId } from '../fields.ts';
import { component } from '../views/answer.ts';
import { replayBatchLine, type ReplayBatchList } from '../views/replay-batch.ts';
import { CandidateBody, candidateOf, type ReplayLaunch } from './bodies.ts';
import { type ChooseDeps, chooseSamples } from './launch-step.ts';
import { type BatchRequest, planStep } from './plan-step.ts';
import { badField } from './refusals.ts';
import { requireReplay } from './safe-agents.ts';
import { startBatch, type StartDeps } from './start-batch.ts';

export const ReplaysQuery = z.strictObject({
  step: DefinitionName.optional(),
  before: RunId.optional(),
  limit: count(1, 200).default(50),
});
export type ReplaysQuery = z.output<typeof ReplaysQuery>;

/** A replay of a whole golden set; the candidate changes the step as it is loaded now. */
export const GoldenReplay = component('GoldenReplay', z.strictObject({ candidate: CandidateBody }), {
  candidate: { prompt_template: 'Alert: {{summary}}. What is the cause?' },
});
export type GoldenReplay = z.output<typeof GoldenReplay>;

export interface BatchesDeps extends Omit<ChooseDeps, 'database'>, Omit<StartDeps, 'database'> {
  database: ChooseDeps['database'] & StartDeps['database'];
  record: RecordAction;
}

/** Batches that go on by themselves: started here, then followed by their reports. */
export interface Batches {
  /** The newest first. */
  list(query: ReplaysQuery): Promise<ReplayBatchList>;
  /** Starts what `launch` would wait for, and answers the id of its run. Throws as `launch` does. */
  begin(stepName: string, body: ReplayLaunch, options: { actor: Actor; signal: AbortSignal }): Promise<string>;
  /** Replays every member of a golden set against its pinned label. Throws `forbidden`, `not_found`, `conflict`, `unprocessable`. */
  beginOnSet(setId: string, body: GoldenReplay, actor: Actor): Promise<string>;
  /** `<executor>:<agent>` of every agent that may be called again. */
  readonly safeAgents: readonly string[];
}

export function createBatches(deps: BatchesDeps): Batches {
  const { db } = deps.database;
  const start = async (request: BatchRequest, actor: Actor): Promise<string> => {
    const runId = await startBatch(deps, await planStep(deps, request));
    const about = { targetType: 'step', target: request.stepName } as const;
    await deps.record(actor, { action: 'replay', ...about, runId, outcome: 'started' });
    return runId;
  };
  return {
    list: async (query) => ({ replays: (await listBatches(db, query)).map(replayBatchLine) }),
    begin: async (stepName, body, { actor, signal }) => {
      const { request } = await chooseSamples(deps, { stepName, body, signal });
      if (request.samples.length === 0) throw badField(['body', 'bucket'], NO_SAMPLE);
      return start(request, actor);
    },
    beginOnSet: async (setId, body, actor) => {
      requireReplay(deps.replaySettings);
      return start({ ...(await wholeSet(deps, setId)), candidate: candidateOf(body.candidate) }, actor);
    },
    safeAgents: deps.replaySettings.safeAgents,
  };
}

export const NO_SAMPLE = 'the bucket has no labelled execution in production';

/** Every member with its pinned label, the newest first: the definition of its pipeline is the one that the candidate changes. */
async function wholeSet({ database: { db } }: BatchesDeps, id: string): Promise<Omit<BatchRequest, 'candidate'>> {
  const set = await findGoldenSet(db, { id });
  if (set === null) throw unknownId('golden set');
  if (set.archivedAt !== null) throw new AppError('conflict', 'the golden set is archived; restore it first');
  const members = await seenMembers(db, id);
  if (members.length === 0) throw new AppError('conflict', 'the golden set has no members');
  const samples = members.toReversed().map(({ stepId, outcome, labelSource }) => ({ stepId, outcome, labelSource }));
  return { stepName: set.stepName, samples, mode: 'rerender', source: 'replay', base: 'loaded' };
}
