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
/** Answers of a run that are looked at, the last ones. */
const MAX_ANSWERS = 20;
/** Bytes of outputs and reports that are read at once: the last ones of each run come first. */
const MAX_BYTES = 2 * 1024 * 1024;

const bytesOf = (column: 'output' | 'trust_report') =>
  sql<number>`case when octet_length(${sql.ref(column)}) <= ${sql.lit(MAX_READ)}
    then octet_length(${sql.ref(column)}) else 0 end`;

const bounded = (column: 'output' | 'trust_report') =>
  sql<string | null>`case when last.bytes <= ${sql.lit(MAX_BYTES)}
    and octet_length(step_executions.${sql.ref(column)}) <= ${sql.lit(MAX_READ)}
    then step_executions.${sql.ref(column)} end`.as(column);

/** Runs of which all answers that are looked at fit into those bytes. */
const RUNS_THAT_FIT = Math.floor(MAX_BYTES / (MAX_ANSWERS * 2 * MAX_READ));

/** The last answers of agents, with the bytes that are read up to them. A window over texts would copy them: each has only numbers. */
const lastAnswers = (db: Kysely<Tables>, ids: readonly string[]) =>
  db
    .with(
      (cte) => cte('answer').materialized(),
      (from) =>
        from
          .selectFrom(
            from
              .selectFrom('step_executions')
              .select('id')
              .select(
                sql<number>`row_number() over (partition by run_id order by step_index desc, completed_at desc)`.as(
                  'nth',
                ),
              )
              .where('run_id', 'in', ids)
              .where('executor', 'in', ['gateway', 'external'])
              // A fan-out may have hundreds of branches; what it found stands in the steps after it.
              .where('kind', 'in', ['step', 'branch'])
              .where('summary', 'is not', null)
              .as('ranked'),
          )
          .innerJoin('step_executions', 'step_executions.id', 'ranked.id')
          .select(['step_executions.id', 'nth'])
          .select(sql<number>`${bytesOf('output')} + ${bytesOf('trust_report')}`.as('held'))
          .where('nth', '<=', MAX_ANSWERS),
    )
    .selectFrom('answer')
    .select(['answer.id', sql<number>`sum(held) over (order by nth, answer.id)`.as('bytes')]);

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
async function readResults(
  db: Kysely<Tables>,
  runs: readonly Pick<Run, 'id' | 'definitionHash'>[],
  readDeclared: ReadDeclared,
): Promise<Map<string, RunResult>> {
  if (runs.length === 0) return new Map();
  const hashes = new Map(runs.map(({ id, definitionHash }) => [id, definitionHash]));
  const declared = await readDeclared([...hashes.values()]);
  const rows = await db
    .selectFrom(lastAnswers(db, [...hashes.keys()]).as('last'))
    .innerJoin('step_executions', 'step_executions.id', 'last.id')
    .select(['run_id', 'step_name'])
    .select([
      sql<string>`case when length(summary) > ${sql.lit(MAX_CONCLUSION)}
        then substr(summary, 1, ${sql.lit(MAX_CONCLUSION - 1)}) || '…' else summary end`.as('conclusion'),
      bounded('output'),
      bounded('trust_report'),
    ])
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

/** The same, a few runs at a time: what other runs hold changes nothing. */
export async function resultsToKeep(
  db: Kysely<Tables>,
  runs: readonly Pick<Run, 'id' | 'definitionHash'>[],
  readDeclared: ReadDeclared,
): Promise<Map<string, RunResult>> {
  const results = new Map<string, RunResult>();
  for (let at = 0; at < runs.length; at += RUNS_THAT_FIT)
    for (const [id, result] of await readResults(db, runs.slice(at, at + RUNS_THAT_FIT), readDeclared))
      results.set(id, result);
  return results;
}

async function keptResults(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, RunResult>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('runs').select(['id', 'result']).where('id', 'in', ids).execute();
  const kept = rows.map(({ id, result }) => [id, JSON.parse(result ?? 'null') as RunResult | null] as const);
  return new Map(kept.flatMap(([id, result]) => (result ? [[id, result] as const] : [])));
}
