import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { refuseUsage } from '@signalbox/crds/process/command-line';
import type { FoundFile } from './classify.ts';
import { report } from './report.ts';

const HELP = `Usage: npm run validate -- [--allow-warnings] PATH...

Checks definitions as the services would. PATH is a file or a folder of
  pipelines/*.yaml  steps/*.yaml  agents/NAME/{agent.yaml,soul.md}
  or manifests of the kinds Pipeline, LibraryStep and Agent (other kinds are skipped).
Prints file:line:col: error: message for each problem and a summary; exit code 1 when there is an error or a warning.

  --allow-warnings   warnings alone exit with code 0`;
const ALLOW_WARNINGS = '--allow-warnings';

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

/** The problem with the arguments, or null. */
function misuse(args: readonly string[]): string | null {
  const flag = args.find((arg) => arg.startsWith('-'));
  if (flag !== undefined) return `unknown option ${flag}`;
  if (args.length === 0) return 'PATH is required';
  const absent = args.find((path) => !existsSync(path));
  return absent === undefined ? null : `${absent}: no such file or folder`;
}

function main(args: readonly string[]): number {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(HELP);
    return 0;
  }
  const paths = args.filter((arg) => arg !== ALLOW_WARNINGS);
  const wrong = misuse(paths);
  if (wrong !== null) {
    return refuseUsage('validate', wrong, HELP);
  }
  const files = [...new Set(paths.flatMap(yamlFiles))];
  const { lines, errors, warnings, definitions } = report(files.map(readFound));
  for (const line of lines.slice(0, -1)) console.log(line);
  if (definitions > 0) console.log(lines.at(-1));
  else console.error(`no definitions under ${paths.join(', ')}\n\n${HELP}`);
  const refused = errors + (args.includes(ALLOW_WARNINGS) ? 0 : warnings);
  return refused > 0 || definitions === 0 ? 1 : 0;
}

process.exitCode = main(process.argv.slice(2));
