import { type Kysely, sql } from 'kysely';
import { newestFirst, type PromptUse } from '../../analytics/prompt-versions.ts';
import type { LabelledCount } from './calibration.ts';
import { hasExecutions } from './step-facts.ts';
import { firstWithin } from '../db/first-within.ts';
import type { Tables } from '../db/schema.ts';
import { isExecution, notReplayed } from '../db/rows/executions.ts';
import type { Window } from '../../analytics/window.ts';
import { STAGES } from '../../runs/state/model.ts';
import { lastMark } from '../tables/marks.ts';
import { keptFrom } from '../tables/retention/kept-days.ts';
import { PROMPTS_COUNTED } from './daily/prompt-days.ts';
import { all, within } from './scope.ts';
import { promptsUsed } from '../tables/versions/version-uses.ts';

/** The prompts of a step as they were read; in `stored` by pipeline. */
export interface KnownPrompts {
  used: Awaited<ReturnType<typeof promptsUsed>>;
  stored: readonly Stored[];
}

/** Every prompt that a step ever used (Orchestration 2.9), in any stage; null where no execution of the step was ever recorded. */
export async function knownPrompts(db: Kysely<Tables>, stepName: string): Promise<KnownPrompts | null> {
  const [used, stored] = await Promise.all([promptsUsed(db, stepName), storedPrompts(db, stepName)]);
  if (used.length + stored.length === 0 && !(await hasExecutions(db, stepName))) return null;
  return { used, stored };
}

/**
 * The prompts of all pipelines, the newest first and without their texts, or those that stored executions of one used; `counts` are the labelled executions of the same. Other
 * counts are of executions that are still stored.
 */
export function promptUses(
  { used, stored }: KnownPrompts,
  counts: readonly LabelledCount[],
  pipeline?: string,
): PromptUse[] {
  const own = stored.filter(({ pipeline_name: name }) => pipeline === undefined || name === pipeline);
  const byHash = Map.groupBy(own, ({ hash }) => hash);
  const past = new Map(pipeline === undefined ? used.map((use) => [use.promptHash, use]) : []);
  const labelled = Map.groupBy(counts, ({ promptHash }) => promptHash);
  const prompts = [...new Set([...past.keys(), ...byHash.keys()])].map((promptHash) => {
    const uses = byHash.get(promptHash) ?? [];
    const [first, last] = [past.get(promptHash)?.firstSeenAt ?? Infinity, past.get(promptHash)?.lastSeenAt ?? 0];
    return {
      promptHash,
      template: null,
      firstSeenAt: Math.min(first, ...uses.map((use) => use.first)),
      lastSeenAt: Math.max(last, ...uses.map((use) => use.last)),
      runsTotal: uses.reduce((sum, { n }) => sum + n, 0),
      labelledN: labelled.get(promptHash)?.reduce((sum, { n }) => sum + n, 0) ?? 0,
      pipelines: [...new Set(uses.map(({ pipeline_name: name }) => name))].toSorted(),
    };
  });
  return newestFirst(prompts, ({ promptHash }) => promptHash);
}

interface Stored {
  hash: string;
  pipeline_name: string;
  first: number;
  last: number;
  n: number;
}

/** Days that are counted, as far as no run of them was removed, from their counts, the rest from rows. */
async function storedPrompts(db: Kysely<Tables>, stepName: string): Promise<Stored[]> {
  const to = await lastMark(db, PROMPTS_COUNTED);
  const from = await keptFrom(db);
  if (to === null || from >= to) return promptsIn(db, stepName, { from: null, to: null });
  return [
    ...(from === 0 ? [] : await promptsIn(db, stepName, { from: null, to: from })),
    ...(await promptsCounted(db, stepName, { from, to })),
    ...(await promptsIn(db, stepName, { from: to, to: null })),
  ];
}

const promptsIn = (db: Kysely<Tables>, stepName: string, window: Window): Promise<Stored[]> =>
  db
    .selectFrom('step_executions')
    .select(({ ref, fn }) => [
      ref('prompt_hash').$notNull().as('hash'),
      'pipeline_name',
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
    .groupBy(['prompt_hash', 'pipeline_name'])
    .execute();

const promptsCounted = (
  db: Kysely<Tables>,
  stepName: string,
  { from, to }: { from: number; to: number },
): Promise<Stored[]> =>
  db
    .selectFrom('daily_prompts')
    .select(({ fn }) => [
      'prompt_hash as hash',
      'pipeline_name',
      fn.min('first_at').as('first'),
      fn.max('last_at').as('last'),
      fn.sum<number>('executions').as('n'),
    ])
    .where('step_name', '=', stepName)
    .where('day', '>=', from)
    .where('day', '<', to)
    .groupBy(['prompt_hash', 'pipeline_name'])
    .execute();

/** Bytes of the texts of one history: authors change prompts as often as they like, and each of their texts is kept. */
export const MOST_TEXTS = 2 * 1024 * 1024;

/** Editions whose texts are looked for. */
export const MOST_WITH_TEXT = 200;

/** The same editions, the first ones with their texts, as far as these have room together. */
export async function withTemplates(db: Kysely<Tables>, newest: readonly PromptUse[]): Promise<PromptUse[]> {
  const hashes = newest.slice(0, MOST_WITH_TEXT).map(({ promptHash }) => promptHash);
  const sizes = await sizesOf(db, hashes);
  const templates = await templatesOf(
    db,
    firstWithin(hashes, (hash) => sizes.get(hash) ?? 0, { most: MOST_TEXTS }),
  );
  return newest.map((use) => ({ ...use, template: templates.get(use.promptHash) ?? null }));
}

async function sizesOf(db: Kysely<Tables>, hashes: readonly string[]): Promise<Map<string, number>> {
  if (hashes.length === 0) return new Map();
  const rows = await db
    .selectFrom('prompt_templates')
    .select(['hash', sql<number | string>`octet_length(template)`.as('bytes')])
    .where('hash', 'in', hashes)
    .execute();
  return new Map(rows.map(({ hash, bytes }) => [hash, Number(bytes)]));
}

async function templatesOf(db: Kysely<Tables>, hashes: readonly string[]): Promise<Map<string, string>> {
  if (hashes.length === 0) return new Map();
  const rows = await db.selectFrom('prompt_templates').selectAll().where('hash', 'in', hashes).execute();
  return new Map(rows.map(({ hash, template }) => [hash, JSON.parse(template) as string]));
}
