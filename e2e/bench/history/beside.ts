import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { scratchDirectory } from '../../support/scratch.ts';
import { median } from '../benchmark.ts';
import type { LoadResult } from '../load.ts';
import { startGatewayProcess, startLoadGenerator, VIEWER_TOKEN } from '../services.ts';
import type { History } from './kept.ts';
import type { Measured } from './measure.ts';
import { pipelineName } from './shape.ts';

const PER_SECOND = 50;
const SECONDS = 15;
const WARM_SECONDS = 3;
const ROUNDS = 5;
const BUSIEST = pipelineName(0);

/** Asked in a loop, all three at once. */
const READ = [
  '/ui/insights?time_range=30d',
  `/pipelines/${BUSIEST}/promotion-readiness`,
  `/exports/runs?format=csv&pipeline=${pipelineName(9)}`,
];
const PAGES = ['/ui/', '/ui/insights?time_range=30d', `/ui/pipelines/${BUSIEST}`];

type Start = (history: History, gatewayUrl: string) => Promise<Measured & AsyncDisposable>;

/** Prints what webhooks and `/health` notice of reading, on a copy of the history: webhooks make runs. */
export async function besideReading(history: History, start: Start): Promise<void> {
  if (!('file' in history.location)) return console.log('  webhooks beside reading: only with the embedded database');
  using scratch = scratchDirectory('signalbox-bench-history-copy-');
  const copy = copyOf(history, history.location.file, scratch.path);
  const gateway = await startGatewayProcess();
  const load = startLoadGenerator();
  try {
    await using service = await start(copy, gateway.url);
    const webhooks = (seconds: number) =>
      load.run({ process: service }, { connections: 10, amount: { seconds }, perSecond: PER_SECOND });
    await webhooks(WARM_SECONDS);
    await readUntil(service, wait(WARM_SECONDS * 1000));
    const quiet = await webhooks(SECONDS);
    const sent = webhooks(SECONDS);
    const read = await readUntil(service, sent);
    sayWebhooks(quiet, await sent, read);
    await pagesAtOnce(service);
  } finally {
    await load.stop();
    await gateway.stop();
  }
}

function copyOf(history: History, file: string, path: string): History {
  const pipelines = join(path, 'pipelines');
  cpSync(file, join(path, 'service.db'));
  mkdirSync(pipelines);
  cpSync(join(history.directory, 'pipelines'), pipelines, { recursive: true });
  const step = { name: 'investigate', executor: 'gateway', agent: 'bench', prompt_template: 'Alert: {{summary}}' };
  writeFileSync(join(pipelines, 'bench.yaml'), JSON.stringify({ name: 'bench', stage: 'production', steps: [step] }));
  return { ...history, directory: path, location: { file: join(path, 'service.db') } };
}

async function ask({ url, cookie }: Measured, path: string): Promise<number> {
  const started = performance.now();
  const headers = { authorization: `Bearer ${VIEWER_TOKEN}` };
  const response = await fetch(url + path, { headers: path.startsWith('/ui') ? { cookie } : headers });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
  return performance.now() - started;
}

/** Answers how many requests were answered until then. */
async function readUntil(service: Measured, end: Promise<unknown>): Promise<number> {
  const state = { over: false, answered: 0 };
  void end.finally(() => (state.over = true));
  const loop = async (path: string): Promise<void> => {
    while (!state.over) {
      await ask(service, path);
      state.answered += 1;
    }
  };
  await Promise.all(READ.map(loop));
  return state.answered;
}

const ms = (value: number): string => `${value.toFixed(1)} ms`;

function sayWebhooks(quiet: LoadResult, busy: LoadResult, read: number): void {
  const line = ({ accepted, p50, p99 }: LoadResult) => `${accepted} accepted, p50 ${ms(p50)}, p99 ${ms(p99)}`;
  console.log(`  ${PER_SECOND} webhooks a second, quiet: ${line(quiet)}`);
  console.log(
    `  ${PER_SECOND} webhooks a second beside ${read} answers of insights, readiness and exports: ${line(busy)}`,
  );
  console.log(`  p99 against quiet: ${(busy.p99 / quiet.p99).toFixed(1)}x (goal 1.5x)`);
}

async function pagesAtOnce(service: Measured): Promise<void> {
  const rounds = { alone: PAGES.map((): number[] => []), together: PAGES.map((): number[] => []) };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [at, page] of PAGES.entries()) rounds.alone[at]?.push(await ask(service, page));
  const state = { over: false, slowest: 0 };
  const probe = (async () => {
    while (!state.over) state.slowest = Math.max(state.slowest, await ask(service, '/health'));
  })();
  for (let round = 0; round < ROUNDS; round += 1) {
    const walls = await Promise.all(PAGES.map((page) => ask(service, page)));
    for (const [at, wall] of walls.entries()) rounds.together[at]?.push(wall);
  }
  state.over = true;
  await probe;
  for (const [at, page] of PAGES.entries()) {
    const [alone, together] = [median(rounds.alone[at] ?? []), median(rounds.together[at] ?? [])];
    console.log(`  ${page}: alone ${ms(alone)}, beside the other pages ${ms(together)}`);
  }
  console.log(`  slowest /health beside the pages: ${ms(state.slowest)} (goal 100 ms)`);
}
