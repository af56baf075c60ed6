import type { ArtifactStore } from '../artifacts/keep.ts';
import { sortOut } from '../artifacts/keep.ts';
import type { Database } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { inBatches } from './retention/in-batches.ts';

interface Row {
  run_id: string;
  step_name: string;
  name: string;
  body: string;
  kept_at: number;
}

const keepRow = statement<Row>((db, slot) =>
  db
    .insertInto('artifacts')
    .values({
      run_id: slot.run_id,
      step_name: slot.step_name,
      name: slot.name,
      body: slot.body,
      kept_at: slot.kept_at,
    })
    .onConflict((conflict) =>
      conflict.columns(['run_id', 'step_name', 'name']).doUpdateSet((row) => ({ body: row.ref('excluded.body') })),
    ),
);

/** Artifacts beside the runs, where several processes have no folder in common. */
export const databaseArtifacts = ({ db, write }: Pick<Database, 'db' | 'write'>, now: () => number): ArtifactStore => ({
  keep: async (runId, stepName, texts) => {
    const { kept, leftOut } = sortOut(texts);
    // One at a time: a transaction is shared with others.
    for (const [name, body] of kept) {
      const row = { run_id: runId, step_name: stepName, name, body, kept_at: now() };
      await write((tx) => tx.run(keepRow, row));
    }
    return { leftOut };
  },
  read: async (runId, stepName, name) => {
    const row = await db
      .selectFrom('artifacts')
      .select('body')
      .where('run_id', '=', runId)
      .where('step_name', '=', stepName)
      .where('name', '=', name)
      .executeTakeFirst();
    return row ? Buffer.from(row.body) : null;
  },
});

/** Removes what was kept before `before`; answers how many. */
export const pruneArtifacts = (database: Pick<Database, 'write'>, before: number): Promise<number> =>
  inBatches(database, async ({ db }, most) => {
    const { numDeletedRows } = await db
      .deleteFrom('artifacts')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('run_id', 'step_name', 'name'),
          'in',
          selectFrom('artifacts')
            .select(['run_id', 'step_name', 'name'])
            .where('kept_at', '<', before)
            .limit(most)
            .$asTuple('run_id', 'step_name', 'name'),
        ),
      )
      .executeTakeFirst();
    const removed = Number(numDeletedRows);
    return { removed, seen: removed, more: removed === most };
  });
