import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readOptions, refuseUsage } from '@signalbox/crds/process/command-line';
import type { FoundFile } from './classify.ts';
import { counted, report } from './report.ts';

const HELP = `Usage: npm run validate -- [--allow-warnings] [--gateway FILE] [PATH...]

Checks definitions as the services would. PATH is a file or a folder of
  pipelines/*.yaml  steps/*.yaml  agents/NAME/{agent.yaml,soul.md}
  or manifests of the kinds Pipeline, LibraryStep and Agent (other kinds are skipped).
Prints file:line:col: error: message for each problem and a summary; exit code 1 when there is an error or a warning.

  --allow-warnings   warnings alone exit with code 0
  --gateway FILE     also checks a configuration file of the gateway, with this environment: rules of its tool policy
                     without an effect, hashes that nothing is compared with, addresses that are none`;
const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  'allow-warnings': { type: 'boolean' },
  gateway: { type: 'string' },
} as const;

/** Checks the configuration of the gateway, which does not belong to the contract. */
export type CheckGateway = (file: string) => Promise<{ severity: 'error' | 'warning'; message: string }[]>;

const SKIPPED_FOLDERS = new Set(['node_modules']);

function yamlFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .filter(({ name }) => !name.startsWith('.') && !SKIPPED_FOLDERS.has(name))
    .flatMap((entry) => {
      const child = join(path, entry.name);
      if (entry.isDirectory()) return yamlFiles(child);
      return /\.ya?ml$/.test(entry.name) && entry.isFile() ? [child] : [];
    });
}

function readFound(path: string): FoundFile {
  const soul = join(dirname(path), 'soul.md');
  const isAgent = basename(path) === 'agent.yaml' && existsSync(soul);
  return { path, text: readFileSync(path, 'utf8'), ...(isAgent ? { soul: readFileSync(soul, 'utf8') } : {}) };
}

/** The problem with the paths, or null. */
function misuse({ paths, gateway }: { paths: readonly string[]; gateway: string | null }): string | null {
  if (paths.length === 0 && gateway === null) return 'PATH is required';
  const absent = [...paths, ...(gateway === null ? [] : [gateway])].find((path) => !existsSync(path));
  return absent === undefined ? null : `${absent}: no such file or folder`;
}

interface Found {
  errors: number;
  warnings: number;
}

function checkDefinitions(paths: readonly string[]): Found {
  const files = [...new Set(paths.flatMap(yamlFiles))];
  const { lines, errors, warnings, definitions } = report(files.map(readFound));
  for (const line of lines.slice(0, -1)) console.log(line);
  if (definitions > 0) {
    console.log(lines.at(-1));
    return { errors, warnings };
  }
  console.error(`no definitions under ${paths.join(', ')}\n\n${HELP}`);
  return { errors: 1, warnings };
}

async function checkFile(file: string, check: CheckGateway): Promise<Found> {
  const problems = await check(file);
  for (const { severity, message } of problems) console.log(`${file}: ${severity}: ${message}`);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  console.log(`${file}: ${counted(errors, 'error')}, ${counted(warnings, 'warning')}`);
  return { errors, warnings };
}

/** Runs the command line; resolves with the exit code. */
export async function validate(args: string[], checkGateway: CheckGateway): Promise<number> {
  const { values, positionals: paths } = readOptions('validate', HELP, {
    args,
    allowPositionals: true,
    options: OPTIONS,
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const { gateway = null } = values;
  const wrong = misuse({ paths, gateway });
  if (wrong !== null) return refuseUsage('validate', wrong, HELP);
  const found = [
    ...(gateway === null ? [] : [await checkFile(gateway, checkGateway)]),
    ...(paths.length === 0 ? [] : [checkDefinitions(paths)]),
  ];
  return found.some(({ errors, warnings }) => errors > 0 || (warnings > 0 && !values['allow-warnings'])) ? 1 : 0;
}
