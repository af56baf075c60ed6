/** `npm run generate`: everything in the repository that is made from sources. `--check` writes nothing and names what differs. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readOptions } from '@signalbox/crds/process/command-line';
import { chartFiles } from './chart-files.ts';
import { configReference } from './config-reference.ts';
import { withoutEngines } from './lockfile.ts';
import { ROOT, runCommand } from './run-command.ts';

const HELP = `npm run generate [-- --check]

Writes what is made from sources: the CRDs (config/crd), the JSON Schemas for editors (crds/schemas), the references in docs/ and
what the charts copy; and takes the engines of dependencies out of package-lock.json.

  --check   writes nothing; exit code 1 and the names of the files that differ
  --help    print this
`;

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

async function generate(check: boolean): Promise<number> {
  const contract = await runCommand(process.execPath, ['crds/src/cli/generate.ts', ...(check ? ['--check'] : [])]);
  process.stdout.write(contract.output);
  return contract.ok && bringUpToDate(check) ? 0 : 1;
}

const options = { check: { type: 'boolean', default: false }, help: { type: 'boolean' } } as const;
const { values } = readOptions('generate', HELP, { options });
if (values.help) process.stdout.write(HELP);
else process.exitCode = await generate(values.check);
