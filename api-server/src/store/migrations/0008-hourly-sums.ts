import type { TableWords } from './table-words.ts';

const HOUR_MS = 3_600_000;
const hourOf = (column: string) => `${column} - ${column} % ${HOUR_MS}`;
/** Names are part of a key, and an entry of an index has a largest size; `runs/hourly.ts` cuts them at the same places. */
const cut = (column: string, most: number) => `substr(coalesce(${column}, ''), 1, ${most})`;
/** A fan-out branch, `<step>/<index>`, counts under the name before the slash. */
const FAMILY = `CASE WHEN step_name LIKE '%/%' THEN rtrim(rtrim(step_name, '0123456789'), '/') ELSE step_name END`;
const UNPRICED = `CASE WHEN cost IS NULL AND coalesce(input_tokens, output_tokens) IS NOT NULL THEN 1 ELSE 0 END`;

/**
 * What the statistics of a window are summed from: one row an hour, by the hour in which a run was triggered and
 * a step started, an empty name where there is none. Beside them the indexes for what no sum can say: exact percentiles, and
 * the labels of single executions.
 */
export const hourlySums = ({ integer, real, text, keyed }: TableWords): readonly string[] => [
  `CREATE TABLE hourly_runs (hour ${integer} NOT NULL, pipeline_name ${text} NOT NULL, stage ${text} NOT NULL, team ${text} NOT NULL,
    status ${text} NOT NULL, runs ${integer} NOT NULL, duration_ms ${integer} NOT NULL,
    PRIMARY KEY (hour, pipeline_name, stage, team, status)) ${keyed}`,
  `CREATE TABLE hourly_steps (hour ${integer} NOT NULL, step_name ${text} NOT NULL, pipeline_name ${text} NOT NULL, stage ${text} NOT NULL,
    team ${text} NOT NULL, agent ${text} NOT NULL, provider ${text} NOT NULL, model ${text} NOT NULL, cost_source ${text} NOT NULL,
    status ${text} NOT NULL, executions ${integer} NOT NULL, reporting ${integer} NOT NULL, input_tokens ${integer} NOT NULL,
    output_tokens ${integer} NOT NULL, cost ${real} NOT NULL, unpriced ${integer} NOT NULL, duration_ms ${integer} NOT NULL,
    PRIMARY KEY (hour, step_name, pipeline_name, stage, team, agent, provider, model, cost_source, status)) ${keyed}`,
  `ALTER TABLE step_executions ADD COLUMN family ${text} NOT NULL DEFAULT ''`,
  `UPDATE step_executions SET family = ${FAMILY}`,
  `INSERT INTO hourly_runs (hour, pipeline_name, stage, team, status, runs, duration_ms)
    SELECT ${hourOf('triggered_at')}, pipeline_name, stage, ${cut('team', 120)}, status, count(*), sum(completed_at - triggered_at)
    FROM runs WHERE completed_at IS NOT NULL GROUP BY 1, 2, 3, 4, 5`,
  `INSERT INTO hourly_steps (hour, step_name, pipeline_name, stage, team, agent, provider, model, cost_source, status,
      executions, reporting, input_tokens, output_tokens, cost, unpriced, duration_ms)
    SELECT ${hourOf('started_at')}, family, pipeline_name, stage, ${cut('team', 120)}, ${cut('agent', 120)}, ${cut('provider', 100)},
      ${cut('model', 200)}, coalesce(cost_source, ''), status, count(*), count(coalesce(input_tokens, output_tokens)),
      coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0.0), sum(${UNPRICED}),
      sum(completed_at - started_at)
    FROM step_executions WHERE completed_at IS NOT NULL AND status <> 'skipped' AND kind NOT IN ('parallel', 'fan_out')
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`,
  ...(['provider', 'model', 'agent_version'] as const).map((column) => {
    const most = column === 'model' ? 200 : 100;
    return `UPDATE step_executions SET ${column} = substr(${column}, 1, ${most}) WHERE length(${column}) > ${most}`;
  }),
  `CREATE INDEX runs_ended ON runs (pipeline_name, stage, triggered_at, completed_at) WHERE completed_at IS NOT NULL`,
  `CREATE INDEX step_executions_ended ON step_executions (family, stage, started_at, completed_at, status, kind, pipeline_name,
    agent, provider, model, prompt_hash, agent_version, effective_confidence, deterministic_passed, run_id, step_name) WHERE completed_at IS NOT NULL`,
];
