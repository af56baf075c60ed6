/** `npm run generate`: everything in the repository that is made from sources. `--check` writes nothing and names what differs. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chartFiles } from './chart-files.ts';
import { configReference } from './config-reference.ts';
import { withoutEngines } from './lockfile.ts';
import { ROOT, runCommand } from './run-command.ts';

/** Path below the root -> text; after the contract, for the charts hold copies of what is made from it. */
const generatedFiles = () =>
  new Map([
    ['docs/configuration.md', configReference()],
    ['package-lock.json', withoutEngines(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))],
    ...chartFiles(),
  ]);

function bringUpToDate(check: boolean): boolean {
  const stale = [...generatedFiles()].filter(([file, text]) => {
    const path = join(ROOT, file);
    return !existsSync(path) || readFileSync(path, 'utf8') !== text;
  });
  for (const [file, text] of stale) {
    if (check) {
      console.error(`${file} is out of date; run npm run generate`);
      continue;
    }
    mkdirSync(dirname(join(ROOT, file)), { recursive: true });
    writeFileSync(join(ROOT, file), text);
    console.log(`wrote ${file}`);
  }
  return !check || stale.length === 0;
}

const args = process.argv.slice(2);
const contract = await runCommand(process.execPath, ['crds/src/cli/generate.ts', ...args]);
process.stdout.write(contract.output);
const isAsked = !args.includes('--help') && contract.ok;
const isRight = !isAsked || bringUpToDate(args.includes('--check'));
process.exitCode = contract.ok && isRight ? 0 : 1;
