import type { TableWords } from './table-words.ts';

/** One row a fire, so that it starts at most one run, and when schedules were last looked at. */
export const schedules = ({ integer, text, keyed }: TableWords): readonly string[] => [
  `CREATE TABLE schedule_fires (pipeline_name ${text} NOT NULL, fire_at ${integer} NOT NULL,
    PRIMARY KEY (pipeline_name, fire_at)) ${keyed}`,
  `CREATE TABLE marks (name ${text} PRIMARY KEY, value ${integer} NOT NULL) ${keyed}`,
];
