import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { seenMembers } from '../../store/tables/replay/golden-members.ts';
import { findGoldenSet } from '../../store/tables/replay/golden-sets.ts';
import { batchVerdict } from '../../analytics/replay/batch-verdict.ts';
import { batchAnswers } from '../../store/tables/replay/batch-answers.ts';
import { listBatches } from '../../store/tables/replay/replay-batches.ts';
import { type Action, recordIn } from '../audit/record.ts';
import { count, DefinitionName, RunId, unknownId } from '../fields.ts';
import { component } from '../views/answer.ts';
import { replayBatchLine, type ReplayBatchList } from '../views/replay-batch.ts';
import { CandidateBody, candidateOf, type ChainLaunch, type ReplayLaunch } from './bodies.ts';
import { launchOnce, type LaunchOptions } from './launch-once.ts';
import { type ChooseDeps, chooseSamples } from './launch-step.ts';
import { planChain } from './plan-chain.ts';
import { type BatchRequest, planStep } from './plan-step.ts';
import { badField } from './refusals.ts';
import { requireReplay } from './safe-agents.ts';
import { type Batch, startBatch, type StartDeps } from './start-batch.ts';

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
}

/** Batches that go on by themselves: started here, then followed by their reports. */
export interface Batches {
  /** The newest first. */
  list(query: ReplaysQuery): Promise<ReplayBatchList>;
  /**
   * Replays labelled executions of a bucket and answers the id of the batch's run, as do the others. Throws `forbidden`,
   * `not_found`, `unprocessable`, and `conflict` where the key was used for another launch.
   */
  begin(stepName: string, body: ReplayLaunch, options: LaunchOptions): Promise<string>;
  /** Replays a range of steps over recorded runs of a pipeline, each step fed by the replayed ones before it. Throws as `begin`. */
  beginChain(pipelineName: string, body: ChainLaunch, options: LaunchOptions): Promise<string>;
  /** Replays every member of a golden set against its pinned label. Throws as `begin`. */
  beginOnSet(setId: string, body: GoldenReplay, options: LaunchOptions): Promise<string>;
  /** `<executor>:<agent>` of every agent that may be called again. */
  readonly safeAgents: readonly string[];
}

/** How long the list may take: each batch may have thousands of executions. */
const LIST_MS = 30_000;

export function createBatches(deps: BatchesDeps): Batches {
  const { database } = deps;
  const start = (batch: Batch, { actor }: LaunchOptions, about: Pick<Action, 'targetType' | 'target'>) =>
    startBatch(deps, batch, (tx, runId) =>
      recordIn(tx, actor, deps.now(), { action: 'replay', ...about, runId, outcome: 'started' }),
    );
  return {
    list: async (query) => {
      const db = database.reader(AbortSignal.timeout(LIST_MS));
      const batches = await listBatches(db, query);
      const answers = await batchAnswers(
        db,
        batches.map(({ runId }) => runId),
      );
      const byBatch = Map.groupBy(answers, ({ batch }) => batch);
      return {
        replays: batches.map((batch) =>
          replayBatchLine(batch, batchVerdict(batch.replay, byBatch.get(batch.runId) ?? [])),
        ),
      };
    },
    begin: (stepName, body, options) =>
      launchOnce(database, { options, what: { stepName, body } }, async (launch) => {
        const { request } = await chooseSamples(deps, { stepName, body, signal: options.signal });
        if (request.samples.length === 0) throw badField(['body', 'bucket'], NO_SAMPLE);
        const batch = await planStep(deps, { ...request, launch });
        return start(batch, options, { targetType: 'step', target: stepName });
      }),
    beginChain: (pipelineName, body, options) =>
      launchOnce(database, { options, what: { pipelineName, body } }, async (launch) => {
        const batch = await planChain(deps, { pipelineName, body, signal: options.signal });
        return start({ ...batch, launch }, options, { targetType: 'pipeline', target: pipelineName });
      }),
    beginOnSet: (setId, body, options) =>
      launchOnce(database, { options, what: { setId, body } }, async (launch) => {
        requireReplay(deps.replaySettings);
        const request = { ...(await wholeSet(deps, setId)), candidate: candidateOf(body.candidate), launch };
        return start(await planStep(deps, request), options, { targetType: 'step', target: request.stepName });
      }),
    safeAgents: deps.replaySettings.safeAgents,
  };
}

const NO_SAMPLE = 'the bucket has no labelled execution in production';

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
