import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/start-service.ts';
import type { Mutant } from './mutant.ts';

export interface Outcome {
  mutant: Mutant;
  /** A test that failed; null where the mutant survived. */
  noticed: string | null;
}

const PAGE = join(ROOT, 'docs/reliability.md');
const BEGIN = '<!-- mutants -->';
const END = '<!-- /mutants -->';

export const tableOf = (outcomes: readonly Outcome[]): string =>
  [
    '| area | fault | test file | a test that fails |',
    '| --- | --- | --- | --- |',
    ...outcomes.map(
      ({ mutant: { area, what, tests }, noticed }) =>
        `| ${area} | ${what} | \`${tests}\` | ${noticed === null ? '**none**' : cell(noticed)} |`,
    ),
  ].join('\n');

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');

export function writeTable(outcomes: readonly Outcome[]): void {
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest = ''] = page.split(BEGIN);
  const after = rest.split(END)[1] ?? '';
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${tableOf(outcomes)}\n\n${END}${after}`);
}
