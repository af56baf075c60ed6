import type { TableWords } from './table-words.ts';

/**
 * Sums of whole days (UTC) that nothing can change any more, added up from the hourly ones in the background, and sketches of the
 * durations of each day. `daily_use` is `daily_steps` without the names of steps, agents and models.
 */
export const dailySums = ({ integer, real, text, keyed }: TableWords): readonly string[] => {
  const summed = `executions ${integer} NOT NULL, reporting ${integer} NOT NULL, input_tokens ${integer} NOT NULL,
    output_tokens ${integer} NOT NULL, cost ${real} NOT NULL, unpriced ${integer} NOT NULL, duration_ms ${integer} NOT NULL`;
  return [
    `CREATE TABLE daily_runs (day ${integer} NOT NULL, pipeline_name ${text} NOT NULL, stage ${text} NOT NULL, team ${text} NOT NULL,
    status ${text} NOT NULL, runs ${integer} NOT NULL, duration_ms ${integer} NOT NULL,
    PRIMARY KEY (day, pipeline_name, stage, team, status)) ${keyed}`,
    `CREATE TABLE daily_use (day ${integer} NOT NULL, pipeline_name ${text} NOT NULL, stage ${text} NOT NULL, team ${text} NOT NULL,
    cost_source ${text} NOT NULL, ${summed}, PRIMARY KEY (day, pipeline_name, stage, team, cost_source)) ${keyed}`,
    `CREATE TABLE daily_steps (step_name ${text} NOT NULL, day ${integer} NOT NULL, pipeline_name ${text} NOT NULL, stage ${text} NOT NULL,
    team ${text} NOT NULL, agent ${text} NOT NULL, provider ${text} NOT NULL, model ${text} NOT NULL, cost_source ${text} NOT NULL,
    status ${text} NOT NULL, ${summed},
    PRIMARY KEY (step_name, day, pipeline_name, stage, team, agent, provider, model, cost_source, status)) ${keyed}`,
    `CREATE TABLE daily_durations (step_name ${text} NOT NULL, day ${integer} NOT NULL, pipeline_name ${text} NOT NULL,
    stage ${text} NOT NULL, counts ${text} NOT NULL, PRIMARY KEY (step_name, day, pipeline_name, stage)) ${keyed}`,
  ];
};
