import { setImmediate } from 'node:timers/promises';
import type { Database, Tx } from '../db/database.ts';
import { type PromptText, promptTexts } from '../../versions/prompt-texts.ts';
import { lastMark, setMark } from './marks.ts';
import { statement } from '../db/statement.ts';

const insertTemplate = statement<PromptText>((db, slot) =>
  db
    .insertInto('prompt_templates')
    .values({ hash: slot.hash, template: slot.template })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Keeps the prompts of a resolved pipeline, so that they can be read when nothing else has them any more (Orchestration 9). */
export async function keepPrompts(tx: Tx, pipeline: unknown): Promise<void> {
  const texts = promptTexts(pipeline).toSorted((a, b) => (a.hash < b.hash ? -1 : 1));
  for (const { hash, template } of texts) await tx.run(insertTemplate, { hash, template: JSON.stringify(template) });
}

const FILLED = 'prompts_kept_until';
/** Clocks of replicas differ, and one of an older program may still store definitions alone. */
const OVERLAP_MS = 86_400_000;

/** Keeps the prompts of definitions that were stored before prompts were, or by a program that did not keep them. */
export async function keepEarlierPrompts(database: Database, now: number): Promise<void> {
  const since = (await lastMark(database.db, FILLED)) ?? 0;
  for (let after = ''; ;) {
    const row = await database.db
      .selectFrom('definitions')
      .select(['hash', 'body'])
      .where('kind', '=', 'Pipeline')
      .where('hash', '>', after)
      .where('stored_at', '>=', since)
      .orderBy('hash')
      .limit(1)
      .executeTakeFirst();
    if (!row) break;
    await database.write((tx) => keepPrompts(tx, JSON.parse(row.body)));
    after = row.hash;
    // One body may take milliseconds.
    await setImmediate();
  }
  await database.write((tx) => setMark(tx, FILLED, now - OVERLAP_MS));
}
