import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import type { OpenApiDocument } from './openapi.ts';
import { ROOT } from './start-service.ts';

const run = promisify(execFile);
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const FLAGS =
  '--strict --noEmit --skipLibCheck --erasableSyntaxOnly --allowImportingTsExtensions --module nodenext --types node';

/**
 * Compiles a TypeScript program against types generated from a document (`import type { paths } from './api.ts'`), and runs it
 * with `args`. Returns what it printed as JSON; rejects with the errors of the compiler, or of the program.
 */
export async function runRestClient(
  document: OpenApiDocument,
  { directory, program, args }: { directory: string; program: string; args: string[] },
): Promise<unknown> {
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(directory, 'api.ts'),
    astToString(await openapiTS(structuredClone(document) as unknown as OpenAPI3)),
  );
  const file = join(directory, 'program.ts');
  writeFileSync(file, program);
  await run(process.execPath, [TSC, ...FLAGS.split(' '), file], { cwd: directory }).catch(
    (error: { stdout: string }) => {
      throw new Error(error.stdout);
    },
  );
  const { stdout } = await run(process.execPath, [file, ...args]);
  return JSON.parse(stdout);
}
