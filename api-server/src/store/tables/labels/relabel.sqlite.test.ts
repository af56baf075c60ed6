import { CompiledQuery } from 'kysely';
import { expect, test } from 'vitest';
import { openTestStore } from '../../../web/fixtures/store.ts';
import { compile, type Statement } from '../../db/statement.ts';
import { addJudgedStep, removeJudgedStep } from './judged-steps.ts';
import { addFailedLabel, addLabel } from './relabel.ts';

const OF_RUN = {
  id: 'a',
  run_id: 'r',
  step_name: 'look',
  step_index: 1,
  started_at: 1,
  family: 'look',
  stage: 'testing',
};

async function planOf(statements: unknown[]): Promise<string[]> {
  const { database, close } = await openTestStore();
  const plan: string[] = [];
  for (const asked of statements as Statement<typeof OF_RUN, unknown>[]) {
    const { sql, bind } = compile(database.db, asked);
    const explain = CompiledQuery.raw(`EXPLAIN QUERY PLAN ${sql}`, bind(OF_RUN));
    plan.push(...(await database.db.executeQuery<{ detail: string }>(explain)).rows.map(({ detail }) => detail));
  }
  await close();
  return plan;
}

const indexesOf = (plan: readonly string[], table: string): string[] =>
  plan.filter((line) => line.includes(table)).map((line) => line.replace(/.*(INDEX|PRIMARY KEY) /, ''));

test('a failed check looks for executions by their names, not through those of the run', async () => {
  expect(indexesOf(await planOf([addFailedLabel, addJudgedStep]), 'step_executions')).toEqual([
    'step_executions_by_run (run_id=? AND step_name=?)',
    'sqlite_autoindex_step_executions_1 (id=?)',
  ]);
});

test('a mark finds its execution by its key, and looks once through those that are judged', async () => {
  expect(indexesOf(await planOf([removeJudgedStep]), 'judged_steps')).toEqual([
    '(family=? AND stage=? AND started_at=? AND run_id=? AND step_name=?)',
  ]);
  const plan = await planOf([addLabel]);
  expect(indexesOf(plan, 'step_executions')).toEqual(['step_executions_by_run (run_id=? AND step_name=?)']);
  expect(plan.filter((line) => line.startsWith('CORRELATED'))).toEqual([]);
});
