import { sql, type Kysely } from 'kysely';
import type { VersionUse } from '../../../versions/uses.ts';
import type { Tx } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { statement } from '../../db/statement.ts';

const upsertUse = statement<VersionUse>((db, slot) =>
  db
    .insertInto('version_uses')
    .values({
      step_name: slot.step_name,
      prompt_hash: slot.prompt_hash,
      executor: slot.executor,
      agent: slot.agent,
      agent_version: slot.agent_version,
      first_seen_at: slot.first_seen_at,
      last_seen_at: slot.last_seen_at,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['step_name', 'prompt_hash', 'executor', 'agent', 'agent_version'])
        .doUpdateSet({ first_seen_at: widest('first_seen_at', '<'), last_seen_at: widest('last_seen_at', '>') }),
    ),
);

const widest = (column: 'first_seen_at' | 'last_seen_at', sign: '<' | '>') => {
  const [added, stored] = [sql.ref(`excluded.${column}`), sql.ref(`version_uses.${column}`)];
  return sql<number>`case when ${added} ${sql.raw(sign)} ${stored} then ${added} else ${stored} end`;
};

const insertVersion = statement<{ executor: string; agent: string; agent_version: string }>((db, slot) =>
  db
    .insertInto('agent_versions')
    .values({ executor: slot.executor, agent: slot.agent, agent_version: slot.agent_version, wanted: sql.lit(1) })
    // One that was gone and is used again may be had now.
    .onConflict((conflict) =>
      conflict
        .columns(['executor', 'agent', 'agent_version'])
        .doUpdateSet({ wanted: sql.lit(1) })
        .where('agent_versions.soul_md', 'is', null),
    ),
);

/** Widens what is stored; an agent's version that is new waits for its texts. The uses come in one order for all processes. */
export async function storeUses(tx: Tx, uses: readonly VersionUse[]): Promise<void> {
  for (const use of uses) await tx.run(upsertUse, use);
  for (const { executor, agent, agent_version } of uses) {
    if (executor === 'gateway' && agent !== '' && agent_version !== '')
      await tx.run(insertVersion, { executor, agent, agent_version });
  }
}

/** Prompts that a step ever used, with or without runs that are still stored. */
export async function promptsUsed(
  db: Kysely<Tables>,
  stepName: string,
): Promise<{ promptHash: string; firstSeenAt: number; lastSeenAt: number }[]> {
  const rows = await db
    .selectFrom('version_uses')
    .select('prompt_hash')
    .select(({ fn }) => [fn.min('first_seen_at').as('first'), fn.max('last_seen_at').as('last')])
    .where('step_name', '=', stepName)
    .where('prompt_hash', '<>', '')
    .groupBy('prompt_hash')
    .execute();
  return rows.map(({ prompt_hash: promptHash, first, last }) => ({ promptHash, firstSeenAt: first, lastSeenAt: last }));
}
