import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions as optionsOf } from '@signalbox/crds/process/command-line';
import { z } from 'zod';
import { scratchDirectory } from '../../support/scratch.ts';
import { ROOT } from '../../support/start-service.ts';
import { describeMachine } from '../machine.ts';
import { launch } from '../process.ts';
import { GATEWAY_TOKEN, VIEWER_TOKEN, WEBHOOK_TOKEN } from '../services.ts';
import { underWebhooks } from './beside.ts';
import { bytesOf, type History, KEPT, openHistory, type Wanted } from './kept.ts';
import { type Beside, costOf, type Measured } from './measure.ts';
import { type Question, QUESTIONS } from './questions.ts';
import { type Column, print, rowOf } from './table.ts';
import { DAYS, STEPS_A_RUN } from './shape.ts';

export const ABOUT = `npm run bench -- history [options]

What reading costs after ${DAYS} days of runs: makes histories from a seed, starts the service on each and asks it. CPU is that of the service
(and of Postgres), "loop" the part of it in the thread of the event loop. Made histories stay in ${KEPT}.

  --steps LIST    sizes in steps (100000,1000000)
  --seed N        (1)
  --postgres      in Postgres instead of the embedded database
  --only TEXT     questions whose name holds TEXT, may be repeated
  --webhooks      while 50 webhooks a second come in, on a copy: what they use alone is taken off, and it says what they notice of reading
  --make          only make the histories and say where they are
  --json FILE     also write the figures to FILE
  --strict        exit 1 when a goal is missed
  --help
`;

const Options = z.object({
  steps: z
    .string()
    .transform((list) => list.split(',').map(Number))
    .pipe(z.array(z.int().min(STEPS_A_RUN))),
  seed: z.coerce.number().int(),
  postgres: z.boolean(),
  only: z.array(z.string()),
  webhooks: z.boolean(),
  make: z.boolean(),
  json: z.string().optional(),
  strict: z.boolean(),
  help: z.boolean(),
});

/** The program; answers its exit code. */
export async function historyBench(args: string[]): Promise<number> {
  const { values } = optionsOf('bench -- history', ABOUT, {
    args,
    options: {
      steps: { type: 'string', default: '100000,1000000' },
      seed: { type: 'string', default: '1' },
      postgres: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      webhooks: { type: 'boolean', default: false },
      make: { type: 'boolean', default: false },
      json: { type: 'string' },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const options = Options.parse(values);
  if (options.help) {
    console.log(ABOUT);
    return 0;
  }
  const kind = options.postgres ? 'postgres' : 'sqlite';
  const questions = QUESTIONS.filter(
    ({ what }) => options.only.length === 0 || options.only.some((text) => what.includes(text)),
  );
  const columns: Column[] = [];
  for (const steps of options.steps.toSorted((a, b) => a - b)) {
    console.log(`${steps.toLocaleString('en')} steps in ${kind}`);
    const column = await measure(
      { kind, steps, seed: options.seed },
      { questions: options.make ? [] : questions, webhooks: options.webhooks && !options.make },
    );
    if (!options.make) columns.push(column);
  }
  return options.make ? 0 : report(options, questions, columns);
}

/** Prints the table; answers the exit code. */
function report(
  { postgres, json, strict }: z.infer<typeof Options>,
  questions: readonly Question[],
  columns: readonly Column[],
): number {
  const machine = describeMachine(KEPT);
  const rows = questions.map((question) => rowOf(question, columns));
  print(columns, rows);
  if (json !== undefined) {
    const figures = rows.map(({ question: { what }, costs, ratio, missed }) => ({ what, costs, ratio, missed }));
    writeFileSync(json, `${JSON.stringify({ machine, kind: postgres ? 'postgres' : 'sqlite', figures }, null, 2)}\n`);
  }
  return strict && rows.some(({ missed }) => (missed?.length ?? 0) > 0) ? 1 : 0;
}

interface Asked {
  questions: readonly Question[];
  webhooks: boolean;
}

async function measure(wanted: Wanted, { questions, webhooks }: Asked): Promise<Column> {
  await using history = await openHistory(wanted);
  console.log(`  ${history.directory}`);
  const runs = Math.ceil(wanted.steps / STEPS_A_RUN);
  const bytesARun = (await bytesOf(history)) / runs;
  const ask = (service: Measured, beside?: Beside) => costsOf(service, { questions, runs, beside });
  return {
    steps: wanted.steps,
    bytesARun,
    costs: await (webhooks ? underWebhooks(history, startService, ask) : alone()),
  };

  async function alone(): Promise<Column['costs']> {
    if (questions.length === 0) return new Map();
    await using service = await startService(history);
    return await ask(service);
  }
}

async function costsOf(
  service: Measured,
  { questions, runs, beside }: { questions: readonly Question[]; runs: number; beside: Beside | undefined },
): Promise<Column['costs']> {
  // Code of the first requests is not compiled yet, and statements are not prepared.
  await costOf(service, { what: 'warm-up', path: () => '/runs' }, { runs });
  const costs: Column['costs'] = new Map();
  for (const question of questions) costs.set(question.what, await costOf(service, question, { runs, beside }));
  return costs;
}

async function startService(
  { directory, location, server }: History,
  gatewayUrl?: string,
): Promise<Measured & AsyncDisposable> {
  const scratch = scratchDirectory('signalbox-bench-history-service-');
  mkdirSync(scratch.path, { recursive: true });
  const config = {
    server: { host: '127.0.0.1', port: 0 },
    pipeline_config_dir: join(directory, 'pipelines'),
    database: { url: 'file' in location ? `sqlite:///${location.file}` : location.url },
    // The history is older than what is kept by default.
    retention: { runs_days: 3_650, deliveries_days: 3_650 },
    ...(gatewayUrl && { executors: { gateway: { url: gatewayUrl, token: GATEWAY_TOKEN } } }),
    auth: {
      tokens: [
        { name: 'reader', token: VIEWER_TOKEN, role: 'viewer' },
        { name: 'bench', token: WEBHOOK_TOKEN, role: 'webhook' },
      ],
    },
  };
  const path = join(scratch.path, 'config.yaml');
  writeFileSync(path, JSON.stringify(config, null, 2));
  const launched = launch({
    name: 'api-server',
    args: [join(ROOT, 'api-server', 'start.mjs'), '--config', path],
    logFile: join(scratch.path, 'service.log'),
  });
  const stop = async (): Promise<void> => {
    await launched.stop();
    scratch.remove();
  };
  try {
    const url = await launched.listening;
    const cookie = await logIn(url);
    return { url, pid: launched.pid, server, token: VIEWER_TOKEN, cookie, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function logIn(url: string): Promise<string> {
  const response = await fetch(`${url}/ui/login`, {
    method: 'POST',
    body: new URLSearchParams({ token: VIEWER_TOKEN }),
    redirect: 'manual',
  });
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');
}
