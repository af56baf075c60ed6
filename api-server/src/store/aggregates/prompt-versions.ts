import { sql, type Kysely } from 'kysely';
import type { PromptUse } from '../../analytics/prompt-versions.ts';
import { hasExecutions } from './step-facts.ts';
import { labelledRows } from './labels.ts';
import type { Tables } from '../db/schema.ts';
import { isExecution, notReplayed } from './step-rows.ts';
import { promptsUsed } from '../tables/versions/version-uses.ts';

/**
 * Every prompt that a step ever used (Orchestration 2.9), in any stage; null where no execution of the step was ever
 * recorded. Counts are those of executions that are still stored.
 */
export async function promptUses(db: Kysely<Tables>, stepName: string): Promise<PromptUse[] | null> {
  const [used, stored, labelled] = await Promise.all([
    promptsUsed(db, stepName),
    storedPrompts(db, stepName),
    labelledPrompts(db, stepName),
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
    };
  });
}

async function storedPrompts(db: Kysely<Tables>, stepName: string) {
  const rows = await db
    .selectFrom('step_executions')
    .select('prompt_hash')
    .select(({ fn }) => [
      fn.min('started_at').as('first'),
      fn.max('started_at').as('last'),
      fn.countAll<number>().as('n'),
    ])
    .where('family', '=', stepName)
    .where(isExecution())
    .where(notReplayed())
    .where('prompt_hash', 'is not', null)
    .groupBy('prompt_hash')
    .execute();
  return new Map(
    rows.flatMap(({ prompt_hash: hash, first, last, n }) =>
      hash === null ? [] : [[hash, { promptHash: hash, firstSeenAt: first, lastSeenAt: last, runsTotal: n }]],
    ),
  );
}

async function labelledPrompts(db: Kysely<Tables>, stepName: string): Promise<Map<string | null, number>> {
  const rows = await labelledRows(db, stepName)
    .where(notReplayed())
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
