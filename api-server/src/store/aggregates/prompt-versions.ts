import type { Kysely } from 'kysely';
import type { PromptUse } from '../../analytics/prompt-versions.ts';
import type { LabelledCount, LabelledScope } from './calibration.ts';
import { hasExecutions } from './step-facts.ts';
import type { Tables } from '../db/schema.ts';
import { isExecution, notReplayed } from '../db/rows/executions.ts';
import type { Window } from '../../analytics/window.ts';
import { STAGES } from '../../runs/state/model.ts';
import { lastMark } from '../tables/marks.ts';
import { keptFrom } from '../tables/retention/kept-days.ts';
import { PROMPTS_COUNTED } from './daily/prompt-days.ts';
import { all, within } from './scope.ts';
import { promptsUsed } from '../tables/versions/version-uses.ts';

/**
 * Every prompt that a step ever used (Orchestration 2.9), in any stage; null where no execution of the step was ever
 * recorded; `counts` are its labelled executions. Counts are those of executions that are still stored. With a pipeline they are those of its stored executions.
 */
export async function promptUses(
  db: Kysely<Tables>,
  { stepName, pipelineName: pipeline }: LabelledScope,
  counts: readonly LabelledCount[],
): Promise<PromptUse[] | null> {
  const [used, stored] = await Promise.all([
    pipeline === undefined ? promptsUsed(db, stepName) : [],
    storedPrompts(db, { stepName, pipeline }),
  ]);
  const labelled = Map.groupBy(counts, ({ promptHash }) => promptHash);
  const hashes = new Set([...used, ...stored.values()].map(({ promptHash }) => promptHash));
  if (hashes.size === 0) return (await hasExecutions(db, stepName)) ? [] : null;
  const templates = await templatesOf(db, [...hashes]);
  const past = new Map(used.map((use) => [use.promptHash, use]));
  return [...hashes].map((promptHash) => {
    const seen = [past.get(promptHash), stored.get(promptHash)].filter((use) => use !== undefined);
    return {
      promptHash,
      template: templates.get(promptHash) ?? null,
      firstSeenAt: Math.min(...seen.map(({ firstSeenAt }) => firstSeenAt)),
      lastSeenAt: Math.max(...seen.map(({ lastSeenAt }) => lastSeenAt)),
      runsTotal: stored.get(promptHash)?.runsTotal ?? 0,
      labelledN: labelled.get(promptHash)?.reduce((sum, { n }) => sum + n, 0) ?? 0,
      pipelines: stored.get(promptHash)?.pipelines ?? [],
    };
  });
}

interface Stored {
  prompt_hash: string | null;
  pipeline_name: string;
  first: number;
  last: number;
  n: number;
}

/** Days that are counted, as far as no run of them was removed, from their counts, the rest from rows. */
async function storedPrompts(db: Kysely<Tables>, of: StepOf) {
  const to = await lastMark(db, PROMPTS_COUNTED);
  const from = await keptFrom(db);
  const rows =
    to === null || from >= to
      ? await promptsIn(db, of, { from: null, to: null })
      : [
          ...(from === 0 ? [] : await promptsIn(db, of, { from: null, to: from })),
          ...(await promptsCounted(db, of, { from, to })),
          ...(await promptsIn(db, of, { from: to, to: null })),
        ];
  return new Map(
    [...Map.groupBy(rows, ({ prompt_hash: hash }) => hash ?? '')].map(([promptHash, uses]) => [
      promptHash,
      {
        promptHash,
        firstSeenAt: Math.min(...uses.map(({ first }) => first)),
        lastSeenAt: Math.max(...uses.map(({ last }) => last)),
        runsTotal: uses.reduce((sum, { n }) => sum + n, 0),
        pipelines: [...new Set(uses.map(({ pipeline_name: name }) => name))].toSorted(),
      },
    ]),
  );
}

interface StepOf {
  stepName: string;
  pipeline: string | undefined;
}

const promptsIn = (db: Kysely<Tables>, { stepName, pipeline }: StepOf, window: Window): Promise<Stored[]> =>
  db
    .selectFrom('step_executions')
    .select(['prompt_hash', 'pipeline_name'])
    .select(({ fn }) => [
      fn.min('started_at').as('first'),
      fn.max('started_at').as('last'),
      fn.countAll<number>().as('n'),
    ])
    .where('family', '=', stepName)
    // The index has the times of each stage.
    .where('stage', 'in', STAGES)
    .where(all([isExecution(), ...within('started_at', window)]))
    .where(notReplayed())
    .where('prompt_hash', 'is not', null)
    .$if(pipeline !== undefined, (query) => query.where('pipeline_name', '=', pipeline as string))
    .groupBy(['prompt_hash', 'pipeline_name'])
    .execute();

const promptsCounted = (
  db: Kysely<Tables>,
  { stepName, pipeline }: StepOf,
  { from, to }: { from: number; to: number },
): Promise<Stored[]> =>
  db
    .selectFrom('daily_prompts')
    .select(['prompt_hash', 'pipeline_name'])
    .select(({ fn }) => [
      fn.min('first_at').as('first'),
      fn.max('last_at').as('last'),
      fn.sum<number>('executions').as('n'),
    ])
    .where('step_name', '=', stepName)
    .where('day', '>=', from)
    .where('day', '<', to)
    .$if(pipeline !== undefined, (query) => query.where('pipeline_name', '=', pipeline as string))
    .groupBy(['prompt_hash', 'pipeline_name'])
    .execute();

/** As many as a statement takes on both databases with room to spare. */
const AT_ONCE = 200;

async function templatesOf(db: Kysely<Tables>, hashes: string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let from = 0; from < hashes.length; from += AT_ONCE) {
    const rows = await db
      .selectFrom('prompt_templates')
      .selectAll()
      .where('hash', 'in', hashes.slice(from, from + AT_ONCE))
      .execute();
    for (const { hash, template } of rows) found.set(hash, JSON.parse(template) as string);
  }
  return found;
}
