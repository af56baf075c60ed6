import { CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import { stepCost } from '../../../runs/cost/cost.ts';
import { family, hourOf, keyName } from '../../../runs/state/hourly.ts';
import type { CostPart, RawResponse } from '../../../runs/state/model.ts';
import type { Counter } from '../../../runs/state/records.ts';
import type { Tx } from '../../db/database.ts';

/** Names the mark whose value is the `seq` of the newest run that is still to be completed; no mark, nothing to do. */
export const BACKFILL = 'backfill:usage';
/** What one transaction looked at and changed; `left` is the `seq` of the newest run that it left. */
export interface Completed {
  steps: number;
  changed: number;
  left: number;
}

/**
 * Gives rows of before version 0.2.0 the sums of all that was asked for their step: these had the tokens of its own agent,
 * and no cost where one of several calls had no price. Takes at most so many runs, the newest first; null where none are left.
 */
export async function completeSome(
  { db: tx, lock, count }: Pick<Tx, 'db' | 'lock' | 'count'>,
  most: number,
): Promise<Completed | null> {
  await lock(BACKFILL);
  const { rows: marks } = await sql<{ value: number }>`SELECT value FROM marks WHERE name = ${BACKFILL}`.execute(tx);
  if (!marks[0]) return null;
  const newest = marks[0].value;
  const { rows: runs } = await sql<{ seq: number }>`
    SELECT seq FROM runs WHERE seq <= ${newest} ORDER BY seq DESC LIMIT ${most}`.execute(tx);
  const oldest = runs.at(-1)?.seq ?? 0;
  if (runs.length === 0) {
    await sql`DELETE FROM hourly_steps WHERE executions = 0`.execute(tx);
    await sql`DELETE FROM marks WHERE name = ${BACKFILL}`.execute(tx);
    return { steps: 0, changed: 0, left: 0 };
  }
  const { rows } = await sql<OldRow>`
    SELECT ${names(READ)} FROM runs JOIN step_executions AS step ON step.run_id = runs.id
    WHERE runs.seq BETWEEN ${oldest} AND ${newest} AND step.completed_at IS NOT NULL AND step.status <> 'skipped'
      AND step.kind NOT IN ('parallel', 'fan_out')
      AND (step.raw_response LIKE '%"verifier":{%' OR step.raw_response LIKE '%"grounding":{%' OR step.raw_response LIKE '%"costs":[%')`.execute(
    tx,
  );
  const changed = rows.flatMap((row) => completed(row) ?? []);
  await storeSums(tx, changed);
  await addHourly(tx, merged(changed.flatMap(hourlyDeltas)));
  for (const counter of changed.flatMap(tokenCounters)) count(counter);
  await sql`UPDATE marks SET value = ${oldest - 1} WHERE name = ${BACKFILL}`.execute(tx);
  return { steps: rows.length, changed: changed.length, left: oldest - 1 };
}

/** Statements whose text is made once: to make it takes longer than to change a row. */
async function storeSums<T>(tx: Kysely<T>, changed: readonly Changed[]): Promise<void> {
  const set = sql.join(STORED.map((name) => sql`${sql.ref(name)} = ${null}`));
  const update = prepared(tx, sql`UPDATE step_executions SET ${set} WHERE id = ${null}`);
  for (const { row, sums } of changed) await update([...STORED.map((name) => sums[name]), row.id]);
}

/** `null` stands where the values will be. */
function prepared<T>(tx: Kysely<T>, statement: RawBuilder<unknown>): (values: readonly unknown[]) => Promise<unknown> {
  const { sql: text } = statement.compile(tx);
  return (values) => tx.executeQuery(CompiledQuery.raw(text, [...values]));
}

const STORED = ['input_tokens', 'output_tokens', 'cost', 'cost_source', 'unpriced_calls', 'raw_response'] as const;
const READ = [
  ...'id step_name pipeline_name stage team executor agent model provider status started_at completed_at'.split(' '),
  ...STORED,
].map((name) => `step.${name}`);

interface Sums {
  input_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
  cost_source: string | null;
  unpriced_calls: number | null;
  raw_response: string;
}

interface OldRow extends Sums {
  id: string;
  step_name: string;
  pipeline_name: string;
  stage: string;
  team: string | null;
  executor: string;
  agent: string | null;
  model: string | null;
  provider: string | null;
  status: string;
  started_at: number;
  completed_at: number;
}

interface Changed {
  row: OldRow;
  sums: Sums;
  /** What the row did not count. */
  added: CostPart[];
}

type OldOpinion = Partial<Pick<CostPart, 'agent' | 'model' | 'provider' | 'inputTokens' | 'outputTokens'>>;

function completed(row: OldRow): Changed | null {
  const raw = parsed(row.raw_response);
  if (raw === null || raw.loaded !== undefined) return null;
  const costs = raw.costs ?? [
    ...part('answer', { ...row, inputTokens: row.input_tokens, outputTokens: row.output_tokens }),
    ...part('verifier', raw.verifier),
    ...part('grounding', raw.grounding),
  ];
  const { source: cost_source, cost, unpricedCalls, inputTokens, outputTokens } = stepCost(costs);
  const same = inputTokens === row.input_tokens && outputTokens === row.output_tokens && cost === row.cost;
  if (same || costs.length === 0) return null;
  const raw_response = JSON.stringify({ ...raw, costs });
  const sums = { input_tokens: inputTokens, output_tokens: outputTokens, cost, cost_source, raw_response };
  return { row, sums: { ...sums, unpriced_calls: unpricedCalls }, added: costs.filter((one) => one.part !== 'answer') };
}

function parsed(json: string): RawResponse | null {
  try {
    return JSON.parse(json) as RawResponse;
  } catch {
    return null;
  }
}

function part(name: CostPart['part'], of: OldOpinion | undefined): CostPart[] {
  const { agent = null, model = null, provider = null, inputTokens = null, outputTokens = null } = of ?? {};
  if (inputTokens === null && outputTokens === null) return [];
  return [{ part: name, agent, model, provider, inputTokens, outputTokens, cost: null, source: null }];
}

/** Numbers under a key of several columns. */
interface Delta {
  key: readonly (string | number)[];
  add: readonly number[];
}

const HOURLY_KEY = 'hour step_name pipeline_name stage team agent provider model cost_source status'.split(' ');
const ADDED = ['executions', 'reporting', 'input_tokens', 'output_tokens', 'cost', 'unpriced', 'duration_ms'];
const HOURLY = [...HOURLY_KEY, ...ADDED];

/** Out of the sums as the row was, into them as it is now: the source of its price is part of their key. */
const hourlyDeltas = ({ row, sums }: Changed): Delta[] => [hourly(row, row, -1), hourly(row, sums, 1)];

function hourly(row: OldRow, sums: Sums, sign: 1 | -1): Delta {
  const names = (['team', 'agent', 'provider', 'model'] as const).map((name) => keyName(name, row[name]));
  const reports = sums.input_tokens !== null || sums.output_tokens !== null;
  const unpriced = (sums.unpriced_calls ?? 0) > 0 || (reports && sums.cost === null);
  const lasted = row.completed_at - row.started_at;
  const add = [
    1,
    Number(reports),
    sums.input_tokens ?? 0,
    sums.output_tokens ?? 0,
    sums.cost ?? 0,
    Number(unpriced),
    lasted,
  ];
  const place = [hourOf(row.started_at), family(row.step_name), row.pipeline_name, row.stage];
  return { key: [...place, ...names, sums.cost_source ?? '', row.status], add: add.map((value) => sign * value) };
}

const names = (list: readonly string[]) => sql.join(list.map((name) => sql.ref(name)));

async function addHourly<T>(tx: Kysely<T>, deltas: readonly Delta[]): Promise<void> {
  const plus = sql.join(
    ADDED.map((name) => sql`${sql.ref(name)} = hourly_steps.${sql.ref(name)} + excluded.${sql.ref(name)}`),
  );
  const add = prepared(
    tx,
    sql`INSERT INTO hourly_steps (${names(HOURLY)}) VALUES (${sql.join(HOURLY.map(() => null))})
    ON CONFLICT (${names(HOURLY_KEY)}) DO UPDATE SET ${plus}`,
  );
  for (const delta of deltas) await add([...delta.key, ...delta.add]);
}

const TOKENS = 'pipeline_tokens_total';
const MAX_LABEL = 120;

/** Second opinions count under the name of whom was asked. */
const tokenCounters = ({ row, added }: Changed): Counter[] =>
  row.stage !== 'production'
    ? []
    : added.flatMap(({ agent, model, provider, inputTokens, outputTokens }) => {
        const who = [row.team, row.pipeline_name, family(row.step_name), row.executor, agent, model, provider];
        const labels = who.map((label) => (label ?? '').slice(0, MAX_LABEL));
        return [
          { metric: TOKENS, labels: [...labels, 'input'], value: inputTokens ?? 0 },
          { metric: TOKENS, labels: [...labels, 'output'], value: outputTokens ?? 0 },
        ];
      });

/** One write a key. */
function merged(deltas: readonly Delta[]): Delta[] {
  const byKey = new Map<string, { key: Delta['key']; add: number[] }>();
  for (const { key, add } of deltas) {
    // No part of a key holds this sign.
    const name = key.join('\u0000');
    const known = byKey.get(name);
    if (known) for (const [at, value] of add.entries()) known.add[at] = (known.add[at] ?? 0) + value;
    else byKey.set(name, { key, add: [...add] });
  }
  return [...byKey.values()].filter(({ add }) => add.some((value) => value !== 0));
}
