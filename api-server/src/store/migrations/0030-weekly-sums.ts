import type { TableWords } from './table-words.ts';

/** Sums of whole weeks, which begin on Thursdays (UTC) as the weeks of charts do, added up from those of their days; `weekly_durations` is of runs alone. */
export const weeklySums = ({ integer, real, text, keyed }: TableWords): readonly string[] => {
  const summed = `executions ${integer} NOT NULL, reporting ${integer} NOT NULL, input_tokens ${integer} NOT NULL,
    output_tokens ${integer} NOT NULL, cost ${real} NOT NULL, unpriced ${integer} NOT NULL, duration_ms ${integer} NOT NULL`;
  return [
    `CREATE TABLE weekly_runs (week ${integer} NOT NULL, pipeline_name ${text} NOT NULL, stage ${text} NOT NULL, team ${text} NOT NULL,
    status ${text} NOT NULL, runs ${integer} NOT NULL, duration_ms ${integer} NOT NULL,
    PRIMARY KEY (week, pipeline_name, stage, team, status)) ${keyed}`,
    `CREATE TABLE weekly_use (week ${integer} NOT NULL, pipeline_name ${text} NOT NULL, stage ${text} NOT NULL, team ${text} NOT NULL,
    cost_source ${text} NOT NULL, ${summed}, PRIMARY KEY (week, pipeline_name, stage, team, cost_source)) ${keyed}`,
    `CREATE TABLE weekly_steps (step_name ${text} NOT NULL, week ${integer} NOT NULL, pipeline_name ${text} NOT NULL, stage ${text} NOT NULL,
    team ${text} NOT NULL, agent ${text} NOT NULL, provider ${text} NOT NULL, model ${text} NOT NULL, cost_source ${text} NOT NULL,
    status ${text} NOT NULL, ${summed},
    PRIMARY KEY (step_name, week, pipeline_name, stage, team, agent, provider, model, cost_source, status)) ${keyed}`,
    `CREATE TABLE weekly_durations (step_name ${text} NOT NULL, week ${integer} NOT NULL, pipeline_name ${text} NOT NULL,
    stage ${text} NOT NULL, counts ${text} NOT NULL, PRIMARY KEY (step_name, week, pipeline_name, stage)) ${keyed}`,
  ];
};
