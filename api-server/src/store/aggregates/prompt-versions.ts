import type { Kysely } from 'kysely';
import type { PromptUse } from '../../analytics/prompt-versions.ts';
import type { LabelledCount } from './calibration.ts';
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

/** The prompts of a step as they were read; in `stored` by pipeline. */
export interface KnownPrompts {
  used: Awaited<ReturnType<typeof promptsUsed>>;
  stored: readonly Stored[];
  templates: ReadonlyMap<string, string>;
}

/** Every prompt that a step ever used (Orchestration 2.9), in any stage; null where no execution of the step was ever recorded. */
export async function knownPrompts(db: Kysely<Tables>, stepName: string): Promise<KnownPrompts | null> {
  const [used, stored] = await Promise.all([promptsUsed(db, stepName), storedPrompts(db, stepName)]);
  const hashes = new Set([...used.map(({ promptHash }) => promptHash), ...stored.map(({ hash }) => hash)]);
  if (hashes.size === 0 && !(await hasExecutions(db, stepName))) return null;
  return { used, stored, templates: await templatesOf(db, [...hashes]) };
}

/**
 * The prompts of all pipelines, or those that stored executions of one used; `counts` are the labelled executions of the same. Other
 * counts are of executions that are still stored.
 */
export function promptUses(
  { used, stored, templates }: KnownPrompts,
  counts: readonly LabelledCount[],
  pipeline?: string,
): PromptUse[] {
  const own = stored.filter(({ pipeline_name: name }) => pipeline === undefined || name === pipeline);
  const byHash = Map.groupBy(own, ({ hash }) => hash);
  const past = new Map(pipeline === undefined ? used.map((use) => [use.promptHash, use]) : []);
  const labelled = Map.groupBy(counts, ({ promptHash }) => promptHash);
  return [...new Set([...past.keys(), ...byHash.keys()])].map((promptHash) => {
    const uses = byHash.get(promptHash) ?? [];
    const [first, last] = [past.get(promptHash)?.firstSeenAt ?? Infinity, past.get(promptHash)?.lastSeenAt ?? 0];
    return {
      promptHash,
      template: templates.get(promptHash) ?? null,
      firstSeenAt: Math.min(first, ...uses.map((use) => use.first)),
      lastSeenAt: Math.max(last, ...uses.map((use) => use.last)),
      runsTotal: uses.reduce((sum, { n }) => sum + n, 0),
      labelledN: labelled.get(promptHash)?.reduce((sum, { n }) => sum + n, 0) ?? 0,
      pipelines: [...new Set(uses.map(({ pipeline_name: name }) => name))].toSorted(),
    };
  });
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
