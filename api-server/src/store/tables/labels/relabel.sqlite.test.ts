import { CompiledQuery } from 'kysely';
import { expect, test } from 'vitest';
import { openTestStore } from '../../../web/fixtures/store.ts';
import { compile, type Statement } from '../../db/statement.ts';
import { addJudgedStep } from './judged-steps.ts';
import { addFailedLabel } from './relabel.ts';

const OF_RUN = { id: 'a', run_id: 'r', step_name: 'look', step_index: 1, started_at: 1 };

test('a failed check looks for executions by their names, not through those of the run', async () => {
  const { database, close } = await openTestStore();
  const plan: string[] = [];
  for (const asked of [addFailedLabel, addJudgedStep] as Statement<typeof OF_RUN, unknown>[]) {
    const { sql, bind } = compile(database.db, asked);
    const explain = CompiledQuery.raw(`EXPLAIN QUERY PLAN ${sql}`, bind(OF_RUN));
    plan.push(...(await database.db.executeQuery<{ detail: string }>(explain)).rows.map(({ detail }) => detail));
  }
  await close();
  expect(plan.filter((line) => line.includes('step_executions')).map((line) => line.replace(/.*INDEX /, ''))).toEqual([
    'step_executions_by_run (run_id=? AND step_name=?)',
    'sqlite_autoindex_step_executions_1 (id=?)',
  ]);
});
