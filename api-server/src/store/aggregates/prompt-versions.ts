import { sql, type Kysely } from 'kysely';
import type { PromptUse } from '../../analytics/prompt-versions.ts';
import { hasExecutions } from './step-facts.ts';
import { labelledRows } from '../tables/labels/outcome.ts';
import type { Tables } from '../db/schema.ts';
import { isExecution, notReplayed } from '../db/rows/executions.ts';
import { promptsUsed } from '../tables/versions/version-uses.ts';

/**
 * Every prompt that a step ever used (Orchestration 2.9), in any stage; null where no execution of the step was ever
 * recorded. Counts are those of executions that are still stored. With a pipeline they are those of its stored executions.
 */
export async function promptUses(db: Kysely<Tables>, stepName: string, pipeline?: string): Promise<PromptUse[] | null> {
  const [used, stored, labelled] = await Promise.all([
    pipeline === undefined ? promptsUsed(db, stepName) : [],
    storedPrompts(db, stepName, pipeline),
    labelledPrompts(db, stepName, pipeline),
  ]);
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
      labelledN: labelled.get(promptHash) ?? 0,
      pipelines: stored.get(promptHash)?.pipelines ?? [],
    };
  });
}

async function storedPrompts(db: Kysely<Tables>, stepName: string, pipeline: string | undefined) {
  const rows = await db
    .selectFrom('step_executions')
    .select(['prompt_hash', 'pipeline_name'])
    .select(({ fn }) => [
      fn.min('started_at').as('first'),
      fn.max('started_at').as('last'),
      fn.countAll<number>().as('n'),
    ])
    .where('family', '=', stepName)
    .where(isExecution())
    .where(notReplayed())
    .where('prompt_hash', 'is not', null)
    .$if(pipeline !== undefined, (query) => query.where('pipeline_name', '=', pipeline as string))
    .groupBy(['prompt_hash', 'pipeline_name'])
    .execute();
  return new Map(
    [...Map.groupBy(rows, ({ prompt_hash: hash }) => hash ?? '')].map(([promptHash, uses]) => [
      promptHash,
      {
        promptHash,
        firstSeenAt: Math.min(...uses.map(({ first }) => first)),
        lastSeenAt: Math.max(...uses.map(({ last }) => last)),
        runsTotal: uses.reduce((sum, { n }) => sum + n, 0),
        pipelines: uses.map(({ pipeline_name: name }) => name).toSorted(),
      },
    ]),
  );
}

async function labelledPrompts(
  db: Kysely<Tables>,
  stepName: string,
  pipeline: string | undefined,
): Promise<Map<string | null, number>> {
  const rows = await labelledRows(db, stepName)
    .where(notReplayed())
    .$if(pipeline !== undefined, (query) => query.where('step_executions.pipeline_name', '=', pipeline as string))
    .select(['prompt_hash', sql<number>`count(*)`.as('n')])
    .groupBy('prompt_hash')
    .execute();
  return new Map(rows.map(({ prompt_hash, n }) => [prompt_hash, n]));
}

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
