import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from '../generate/files.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const HELP = `Usage: npm run generate [-- --check]

Writes what is made from sources: the CRDs (config/crd), the JSON Schemas for editors (crds/schemas), the references in docs/ and
what the charts copy; and takes the engines of dependencies out of package-lock.json.
  --check   writes nothing; exit code 1 and the names of the files that differ`;

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function main(args: readonly string[]): number {
  if (args.includes('--help')) {
    console.log(HELP);
    return 0;
  }
  const unknown = args.find((arg) => arg !== '--check');
  if (unknown !== undefined) {
    console.error(`unknown argument ${unknown}\n\n${HELP}`);
    return 2;
  }
  const dirty = [...generatedFiles()].filter(([path, text]) => read(join(ROOT, path)) !== text);
  if (args.includes('--check')) {
    for (const [path] of dirty) console.error(`${path} is not what the contract says; run npm run generate`);
    return dirty.length > 0 ? 1 : 0;
  }
  for (const [path, text] of dirty) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
    console.log(`wrote ${path}`);
  }
  return 0;
}

process.exitCode = main(process.argv.slice(2));
