import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions, refuseUsage } from '@signalbox/crds/process/command-line';
import { copySources } from './copy-sources.ts';
import type { Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import { runTests } from './run-tests.ts';
import { type Outcome, tableOf, writeTable } from './table.ts';

const HELP = `npm run mutants [-- OPTIONS]

Changes one thing at a time in a copy of the sources, and runs the test file that has to notice it. Exit code 1 where a mutant survives,
or a test file is red without one.

  --only TEXT   mutants whose description, files or code have this text
  --write       puts the table into docs/reliability.md
  --help        print this
`;
const { values } = readOptions('mutants', HELP, {
  options: { only: { type: 'string' }, write: { type: 'boolean' }, help: { type: 'boolean' } },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}

async function main(): Promise<number> {
  const { only } = values;
  const chosen = MUTANTS.filter((mutant) => only === undefined || JSON.stringify(mutant).includes(only));
  if (chosen.length === 0) return refuseUsage('mutants', `--only ${only}: no mutant has this text`, HELP);
  using copy = copySources();
  const red = await redWithout(copy.path, chosen);
  if (red.length > 0) {
    console.error(`red without a mutant: ${red.join(', ')}`);
    return 1;
  }
  const outcomes: Outcome[] = [];
  for (const mutant of chosen) {
    const noticed = await noticedBy(copy.path, mutant);
    outcomes.push({ mutant, noticed });
    console.log(
      `${noticed === null ? 'SURVIVED' : 'noticed '} ${mutant.area}: ${mutant.what} (${noticed ?? mutant.tests})`,
    );
  }
  const survivors = outcomes.filter(({ noticed }) => noticed === null);
  console.log(`\n${tableOf(outcomes)}\n${outcomes.length} mutants, ${survivors.length} survived`);
  if (values.write === true && only === undefined) writeTable(outcomes);
  return survivors.length === 0 ? 0 : 1;
}

/** Test files that fail as they are: what they say of a mutant would mean nothing. */
async function redWithout(root: string, mutants: readonly Mutant[]): Promise<string[]> {
  const { failed } = await runTests(root, [...new Set(mutants.map(({ tests }) => tests))], { bail: 0 });
  return failed;
}

/** The name of a test that failed; null where none did. */
async function noticedBy(root: string, { file, find, put, tests }: Mutant): Promise<string | null> {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  const [before, after, ...more] = text.split(find);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${file}: the text of a mutant does not occur once: ${find}`);
  writeFileSync(path, before + put + after);
  try {
    const { failed } = await runTests(root, [tests], { bail: 1 });
    return failed[0] ?? null;
  } finally {
    writeFileSync(path, text);
  }
}

process.exitCode = await main();
