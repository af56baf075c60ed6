import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from '../generate/files.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The part of `npm run generate` that the contract makes alone. */
function main(args: readonly string[]): number {
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
