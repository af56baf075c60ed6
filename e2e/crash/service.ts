import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { type Launched, launch } from '../bench/process.ts';
import { ROOT } from '../support/start-service.ts';
import { type StepName, STEPS, type Stored } from './ledger.ts';

export const WEBHOOK_TOKEN = 'crash-webhook-00000000000000000000000';
export const VIEWER_TOKEN = 'crash-viewer-000000000000000000000000';
export const GATEWAY_TOKEN = 'crash-gateway-00000000000000000000000';

/** Faults that the api-server knows for this test only. */
export const Failpoint = z.enum(['step_row_late', 'synchronous_normal']);
export type Failpoint = z.infer<typeof Failpoint>;

/** Where a service under fault lives: `data` is what a power cut hits. */
export interface Place {
  config: string;
  data: string;
  database: string;
  logFile: string;
}

export interface PlaceOptions {
  gatewayUrl: string;
  /** The embedded database where nothing is said. */
  databaseUrl?: string;
  concurrency?: Record<string, unknown>;
}

export function preparePlace(
  directory: string,
  { gatewayUrl, databaseUrl, concurrency = { max_runs: 1000 } }: PlaceOptions,
): Place {
  const data = join(directory, 'data');
  const place = {
    config: join(directory, 'config.yaml'),
    data,
    database: join(data, 'service.db'),
    logFile: join(directory, 'service.log'),
  };
  for (const folder of [data, join(directory, 'pipelines')]) mkdirSync(folder, { recursive: true });
  const steps = STEPS.map((name) => ({
    name,
    executor: 'gateway',
    agent: 'crash',
    prompt_template: `${name}: {{summary}}`,
  }));
  const pipeline = {
    name: 'crash',
    stage: 'production',
    trigger: { dedup: { enabled: true, window_seconds: 3600 } },
    steps,
  };
  const config = {
    server: { host: '127.0.0.1', port: 0 },
    pipeline_config_dir: 'pipelines',
    database: { url: databaseUrl ?? `sqlite:///${place.database}` },
    executors: { gateway: { url: gatewayUrl, token: GATEWAY_TOKEN } },
    concurrency,
    logging: { level: 'DEBUG' },
    auth: {
      tokens: [
        { name: 'crash', token: WEBHOOK_TOKEN, role: 'webhook' },
        { name: 'reader', token: VIEWER_TOKEN, role: 'viewer' },
      ],
    },
  };
  writeFileSync(join(directory, 'pipelines', 'crash.yaml'), JSON.stringify(pipeline));
  writeFileSync(place.config, JSON.stringify(config));
  return place;
}

export function launchService(place: Place, env: Record<string, string>): Launched {
  const args = [join(ROOT, 'api-server', 'start.mjs'), '--config', place.config];
  return launch({ name: 'api-server', args, env, logFile: place.logFile });
}

/** The steps that the service's log called completed since its last start; the last line may be cut off. */
export function readLogged({ logFile }: Place): StepName[] {
  const lines = readFileSync(logFile, 'utf8').split('\n').slice(0, -1);
  return lines.filter((line) => line.includes('"step_completed"')).map((line) => JSON.parse(line) as StepName);
}

/** What the database file of a dead service holds; steps only from `since` on (milliseconds), as earlier ones are known. */
export function readStored({ database }: Place, since: number): Stored {
  if (!existsSync(database)) return { runs: new Map(), completed: [] };
  const db = new DatabaseSync(database);
  try {
    const hasTables = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'step_executions'`).get();
    if (!hasTables) return { runs: new Map(), completed: [] };
    const runs = db.prepare('SELECT id, status FROM runs').all() as { id: string; status: string }[];
    const completed = db
      .prepare(`SELECT run_id, step_name FROM step_executions WHERE status = 'completed' AND completed_at >= ?`)
      .all(since) as { run_id: string; step_name: string }[];
    return { runs: new Map(runs.map(({ id, status }) => [id, status])), completed };
  } finally {
    db.close();
  }
}
