import { type Kysely, sql } from 'kysely';
import type { Run, TrustReport } from '../../../runs/state/model.ts';
import { actionsIn, NOTHING_DECLARED, type RunResult } from '../../../runs/state/result.ts';
import { hasPacked } from '../../db/bodies/packed-body.ts';
import type { Tables } from '../../db/schema.ts';
import type { ReadDeclared } from './declared.ts';

/** Characters of a conclusion. */
const MAX_CONCLUSION = 300;
/** A longer output or report is not read. */
const MAX_READ = 16_384;

const bounded = (column: 'output' | 'trust_report') =>
  sql<string | null>`case when length(${sql.ref(column)}) <= ${sql.lit(MAX_READ)} then ${sql.ref(column)} end`.as(
    column,
  );

const gateOf = (report: string | null): Pick<TrustReport, 'trust' | 'threshold'> =>
  report === null ? { trust: null, threshold: null } : (JSON.parse(report) as TrustReport);

/** The results of these runs, kept or read from their steps; a run without an answer of an agent has none. */
export async function resultsOf(
  db: Kysely<Tables>,
  runs: readonly Pick<Run, 'id' | 'definitionHash' | 'result'>[],
  readDeclared: ReadDeclared,
): Promise<Map<string, RunResult>> {
  const results = await readResults(
    db,
    runs.filter(({ result }) => result === undefined),
    readDeclared,
  );
  for (const { id, result } of runs) if (result) results.set(id, result);
  return results;
}

/** The results of runs whose texts were not packed when they were read, out of their steps. */
export async function readResults(
  db: Kysely<Tables>,
  runs: readonly Pick<Run, 'id' | 'definitionHash'>[],
  readDeclared: ReadDeclared,
): Promise<Map<string, RunResult>> {
  if (runs.length === 0) return new Map();
  const hashes = new Map(runs.map(({ id, definitionHash }) => [id, definitionHash]));
  const declared = await readDeclared(db, [...hashes.values()]);
  const rows = await db
    .selectFrom('step_executions')
    .select(['run_id', 'step_name'])
    .select([
      sql<string>`case when length(summary) > ${sql.lit(MAX_CONCLUSION)}
        then substr(summary, 1, ${sql.lit(MAX_CONCLUSION - 1)}) || '…' else summary end`.as('conclusion'),
      bounded('output'),
      bounded('trust_report'),
    ])
    .where('run_id', 'in', [...hashes.keys()])
    .where('executor', 'in', ['gateway', 'external'])
    // A fan-out may have hundreds of branches; what it found stands in the steps after it.
    .where('kind', 'in', ['step', 'branch'])
    .where('summary', 'is not', null)
    .orderBy('step_index')
    .orderBy('completed_at')
    .execute();
  // Of a run that was packed since it was read, the result is kept.
  const packed = new Set(rows.filter(hasPacked).map(({ run_id: id }) => id));
  const results = await keptResults(db, [...packed]);
  const read = rows.filter(({ run_id: id }) => !packed.has(id));
  const proposing = new Set<string>();
  for (const { run_id: id, step_name: stepName, conclusion, output, trust_report: report } of read) {
    const outputs = declared.get(hashes.get(id) ?? '')?.get(stepName) ?? NOTHING_DECLARED;
    const { actions, proposes } = actionsIn(JSON.parse(output ?? 'null'), outputs);
    // A step that only reports what an earlier one found does not replace its proposal.
    if (!proposes && proposing.has(id)) continue;
    if (proposes) proposing.add(id);
    const { trust, threshold } = gateOf(report);
    results.set(id, { stepName, conclusion, actions, trust, threshold });
  }
  return results;
}

async function keptResults(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, RunResult>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('runs').select(['id', 'result']).where('id', 'in', ids).execute();
  const kept = rows.map(({ id, result }) => [id, JSON.parse(result ?? 'null') as RunResult | null] as const);
  return new Map(kept.flatMap(([id, result]) => (result ? [[id, result] as const] : [])));
}
