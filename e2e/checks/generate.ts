/** `npm run generate`: everything in the repository that is made from sources. `--check` writes nothing and names what differs. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configReference } from './config-reference.ts';
import { ROOT, runCommand } from './run-command.ts';

const PAGE = 'docs/configuration.md';

async function generateConfigReference(check: boolean): Promise<boolean> {
  const path = join(ROOT, PAGE);
  const text = configReference();
  if (readFileSync(path, 'utf8') === text) return true;
  if (check) {
    console.error(`${PAGE} is not what the configuration schemas say; run npm run generate`);
    return false;
  }
  writeFileSync(path, text);
  console.log(`wrote ${PAGE}`);
  return true;
}

const args = process.argv.slice(2);
const contract = await runCommand(process.execPath, ['crds/src/cli/generate.ts', ...args]);
process.stdout.write(contract.output);
const isAsked = !args.includes('--help') && contract.ok;
const isRight = !isAsked || (await generateConfigReference(args.includes('--check')));
process.exitCode = contract.ok && isRight ? 0 : 1;
