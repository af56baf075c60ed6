import type { TableWords } from './table-words.ts';

/** How often the steps of a day that is over used which prompt; replays are not in it. */
export const dailyPrompts = ({ integer, text, keyed }: TableWords): readonly string[] => [
  `CREATE TABLE daily_prompts (step_name ${text} NOT NULL, day ${integer} NOT NULL, pipeline_name ${text} NOT NULL, prompt_hash ${text} NOT NULL,
    executions ${integer} NOT NULL, first_at ${integer} NOT NULL, last_at ${integer} NOT NULL,
    PRIMARY KEY (step_name, day, pipeline_name, prompt_hash)) ${keyed}`,
];
