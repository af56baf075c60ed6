import type { Kysely } from 'kysely';
import type { Priced, Tokens } from '../../analytics/replay/estimate.ts';
import type { Judgement, StepReplay } from '../../runs/state/replay.ts';
import type { Tables } from '../db/schema.ts';

/** The provider and the model that last answered for an agent, or under a model's name; null where none did. */
export async function usedModel(
  db: Kysely<Tables>,
  { agent, model }: { agent: string | undefined; model: string | undefined },
): Promise<Priced | null> {
  const row = await db
    .selectFrom('hourly_steps')
    .select(['provider', 'model'])
    .where('model', '<>', '')
    .$if(model !== undefined, (query) => query.where('model', 'in', namesOf(model ?? '')))
    .$if(model === undefined && agent !== undefined, (query) => query.where('agent', '=', agent ?? ''))
    .orderBy('hour', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** A model may be named with its provider before a slash; rows name it alone. */
const namesOf = (model: string): string[] => [model, model.slice(model.indexOf('/') + 1)];

/** How many past verdicts an estimate is made of. */
const BASIS = 100;

/** What the newest verdicts of a judge used, the newest first. */
export async function judgeCalls(db: Kysely<Tables>, agent: string): Promise<(Tokens & Priced)[]> {
  const rows = await db
    .selectFrom('replay_samples')
    .innerJoin('replays', 'replays.run_id', 'replay_samples.run_id')
    .select(['judgement', 'descriptor'])
    .where('judgement', 'is not', null)
    .orderBy('replay_samples.run_id', 'desc')
    .limit(BASIS * 2)
    .execute();
  return rows
    .filter(({ descriptor }) => (JSON.parse(descriptor) as StepReplay).judge?.agent === agent)
    .map(({ judgement }) => JSON.parse(judgement ?? '') as Judgement)
    .filter(({ inputTokens }) => inputTokens !== null)
    .slice(0, BASIS)
    .map(({ provider, model, inputTokens, outputTokens }) => ({ provider, model, inputTokens, outputTokens }));
}

/** What steps of recorded runs used, the newest first. */
export async function chainCalls(
  db: Kysely<Tables>,
  { runIds, stepNames }: { runIds: readonly string[]; stepNames: readonly string[] },
): Promise<(Tokens & Priced & { stepName: string })[]> {
  if (runIds.length === 0) return [];
  const rows = await db
    .selectFrom('step_executions')
    .select(['step_name', 'provider', 'model', 'input_tokens', 'output_tokens'])
    .where('run_id', 'in', runIds)
    .where('step_name', 'in', stepNames)
    .orderBy('run_id', 'desc')
    .execute();
  return rows.map(({ step_name, provider, model, input_tokens, output_tokens }) => ({
    stepName: step_name,
    provider,
    model,
    inputTokens: input_tokens,
    outputTokens: output_tokens,
  }));
}
