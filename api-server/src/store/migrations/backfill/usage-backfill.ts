import { type Kysely, sql } from 'kysely';
import { stepCost } from '../../../runs/cost/cost.ts';
import { family, hourOf, keyName } from '../../../runs/state/hourly.ts';
import type { CostPart, RawResponse } from '../../../runs/state/model.ts';

/** Names the mark whose value is the `seq` of the newest run that is still to be completed; no mark, nothing to do. */
export const BACKFILL = 'backfill:usage';
const RUNS_AT_ONCE = 500;
const LOG_EVERY_MS = 5_000;

export interface BackfillLog {
  info(fields: object, msg: string): void;
}

/**
 * Gives rows of before version 0.2.0 the sums of all that was asked for their step: these had the tokens of its own agent,
 * and no cost where one of several calls had no price. Newest runs first, a transaction for some of them, so that it goes on
 * where a killed process left it.
 */
export async function completeUsage<T>(db: Kysely<T>, log: BackfillLog | undefined): Promise<void> {
  let [done, changed, said] = [0, 0, Date.now()];
  for (;;) {
    const batch = await db.transaction().execute(completeSome);
    if (batch === null) break;
    done += batch.steps;
    changed += batch.changed;
    if (Date.now() - said < LOG_EVERY_MS) continue;
    said = Date.now();
    log?.info({ steps: done, changed, runs_left: batch.left }, 'completing the usage of steps of an older version');
  }
  if (done > 0) log?.info({ steps: done, changed }, 'completed the usage of steps of an older version');
}

/** The newest runs that are left, in the caller's transaction; null where none are. */
export async function completeSome<T>(tx: Kysely<T>): Promise<{ steps: number; changed: number; left: number } | null> {
  const { rows: marks } = await sql<{ value: number }>`SELECT value FROM marks WHERE name = ${BACKFILL}`.execute(tx);
  if (!marks[0]) return null;
  const newest = marks[0].value;
  const { rows: runs } = await sql<{ seq: number }>`
    SELECT seq FROM runs WHERE seq <= ${newest} ORDER BY seq DESC LIMIT ${RUNS_AT_ONCE}`.execute(tx);
  const oldest = runs.at(-1)?.seq ?? 0;
  if (runs.length === 0) {
    await sql`DELETE FROM hourly_steps WHERE executions = 0`.execute(tx);
    await sql`DELETE FROM marks WHERE name = ${BACKFILL}`.execute(tx);
    return { steps: 0, changed: 0, left: 0 };
  }
  const { rows } = await sql<OldRow>`
    SELECT step.* FROM runs JOIN step_executions AS step ON step.run_id = runs.id
    WHERE runs.seq BETWEEN ${oldest} AND ${newest} AND step.completed_at IS NOT NULL AND step.status <> 'skipped'
      AND step.kind NOT IN ('parallel', 'fan_out')
      AND (step.raw_response LIKE '%"verifier":{%' OR step.raw_response LIKE '%"grounding":{%' OR step.raw_response LIKE '%"costs":[%')`.execute(
    tx,
  );
  const changed = rows.flatMap((row) => completed(row) ?? []);
  for (const { row, sums } of changed)
    await sql`UPDATE step_executions SET input_tokens = ${sums.input_tokens}, output_tokens = ${sums.output_tokens}, cost = ${sums.cost},
      cost_source = ${sums.cost_source}, unpriced_calls = ${sums.unpriced_calls}, raw_response = ${sums.raw_response} WHERE id = ${row.id}`.execute(
      tx,
    );
  for (const delta of merged(changed.flatMap(hourlyDeltas))) await addHourly(tx, delta);
  for (const counter of merged(changed.flatMap(tokenCounters))) await addCounter(tx, counter);
  await sql`UPDATE marks SET value = ${oldest - 1} WHERE name = ${BACKFILL}`.execute(tx);
  return { steps: rows.length, changed: changed.length, left: oldest - 1 };
}

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

const HOURLY = sql.raw(
  'hour, step_name, pipeline_name, stage, team, agent, provider, model, cost_source, status, executions, reporting, input_tokens, output_tokens, cost, unpriced, duration_ms',
);
const ADDED = ['executions', 'reporting', 'input_tokens', 'output_tokens', 'cost', 'unpriced', 'duration_ms'];

/** Out of the sums as the row was, into them as it is now: the source of its price is part of their key. */
const hourlyDeltas = ({ row, sums }: Changed): Delta[] => [hourly(row, -1), hourly({ ...row, ...sums }, 1)];

function hourly(row: OldRow, sign: 1 | -1): Delta {
  const names = (['team', 'agent', 'provider', 'model'] as const).map((name) => keyName(name, row[name]));
  const reports = row.input_tokens !== null || row.output_tokens !== null;
  const unpriced = (row.unpriced_calls ?? 0) > 0 || (reports && row.cost === null);
  const lasted = row.completed_at - row.started_at;
  const add = [
    1,
    Number(reports),
    row.input_tokens ?? 0,
    row.output_tokens ?? 0,
    row.cost ?? 0,
    Number(unpriced),
    lasted,
  ];
  const place = [hourOf(row.started_at), family(row.step_name), row.pipeline_name, row.stage];
  return { key: [...place, ...names, row.cost_source ?? '', row.status], add: add.map((value) => sign * value) };
}

async function addHourly<T>(tx: Kysely<T>, { key, add }: Delta): Promise<void> {
  const plus = sql.join(
    ADDED.map((name) => sql`${sql.ref(name)} = hourly_steps.${sql.ref(name)} + excluded.${sql.ref(name)}`),
  );
  await sql`INSERT INTO hourly_steps (${HOURLY}) VALUES (${sql.join([...key, ...add])})
    ON CONFLICT (hour, step_name, pipeline_name, stage, team, agent, provider, model, cost_source, status) DO UPDATE SET ${plus}`.execute(
    tx,
  );
}

const TOKENS = 'pipeline_tokens_total';
const MAX_LABEL = 120;

/** Second opinions count under the name of whom was asked. */
const tokenCounters = ({ row, added }: Changed): Delta[] =>
  row.stage !== 'production'
    ? []
    : added.flatMap(({ agent, model, provider, inputTokens, outputTokens }) => {
        const who = [row.team, row.pipeline_name, family(row.step_name), row.executor, agent, model, provider];
        const labels = who.map((label) => (label ?? '').slice(0, MAX_LABEL));
        return [
          { key: [TOKENS, JSON.stringify([...labels, 'input'])], add: [inputTokens ?? 0] },
          { key: [TOKENS, JSON.stringify([...labels, 'output'])], add: [outputTokens ?? 0] },
        ];
      });

async function addCounter<T>(tx: Kysely<T>, { key, add }: Delta): Promise<void> {
  await sql`INSERT INTO counters (metric, labels, value) VALUES (${sql.join([...key, ...add])})
    ON CONFLICT (metric, labels) DO UPDATE SET value = counters.value + excluded.value`.execute(tx);
}

/** One write a key. */
function merged(deltas: readonly Delta[]): Delta[] {
  const byKey = new Map<string, Delta>();
  for (const delta of deltas) {
    const name = JSON.stringify(delta.key);
    const known = byKey.get(name);
    const add = known ? known.add.map((value, at) => value + (delta.add[at] ?? 0)) : delta.add;
    byKey.set(name, { key: delta.key, add });
  }
  return [...byKey.values()].filter(({ add }) => add.some((value) => value !== 0));
}
