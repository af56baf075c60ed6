import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratchDirectory } from '../../support/scratch.ts';
import { askServer } from './ask-server.ts';
import type { History } from './kept.ts';

const NAME = 'signalbox_bench_copy';
/** The history itself is the template, and nobody may be connected to that. */
const OTHER = 'template1';

/** The history once more, with a pipeline that webhooks may start, to be written to; it is gone afterwards. */
export async function copyOf(history: History): Promise<History> {
  const scratch = scratchDirectory('signalbox-bench-history-copy-');
  const pipelines = join(scratch.path, 'pipelines');
  mkdirSync(pipelines, { recursive: true });
  cpSync(join(history.directory, 'pipelines'), pipelines, { recursive: true });
  const step = { name: 'investigate', executor: 'gateway', agent: 'bench', prompt_template: 'Alert: {{summary}}' };
  writeFileSync(join(pipelines, 'bench.yaml'), JSON.stringify({ name: 'bench', stage: 'production', steps: [step] }));
  const { location } = history;
  if ('file' in location) {
    const file = join(scratch.path, 'service.db');
    cpSync(location.file, file);
    return {
      ...history,
      directory: scratch.path,
      location: { file },
      [Symbol.asyncDispose]: () => Promise.resolve(scratch.remove()),
    };
  }
  const at = (database: string): string => location.url.replace(/[^/]+$/, database);
  const of = location.url.slice(location.url.lastIndexOf('/') + 1);
  await askServer(at(OTHER), `DROP DATABASE IF EXISTS ${NAME}`, `CREATE DATABASE ${NAME} TEMPLATE ${of}`);
  return {
    ...history,
    directory: scratch.path,
    location: { url: at(NAME) },
    [Symbol.asyncDispose]: async () => {
      await askServer(at(OTHER), `DROP DATABASE ${NAME}`);
      scratch.remove();
    },
  };
}
