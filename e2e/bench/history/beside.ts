import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { median } from '../benchmark.ts';
import type { LoadResult } from '../load.ts';
import { startGatewayProcess, startLoadGenerator, VIEWER_TOKEN } from '../services.ts';
import { copyOf } from './copy.ts';
import type { History } from './kept.ts';
import { type Beside, type Measured, usedUntil } from './measure.ts';
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

/**
 * Asks while webhooks come in that make runs, on a copy of the history, and prints what these and `/health` notice of it. What the service
 * uses for the webhooks alone is measured before; `ask` takes it off what it measures.
 */
export async function underWebhooks<T>(
  history: History,
  start: Start,
  ask: (service: Measured, beside: Beside) => Promise<T>,
): Promise<T> {
  await using copy = await copyOf(history);
  const gateway = await startGatewayProcess();
  const load = startLoadGenerator();
  try {
    await using service = await start(copy, gateway.url);
    const webhooks = (seconds: number) =>
      load.run({ process: service }, { connections: 10, amount: { seconds }, perSecond: PER_SECOND });
    await webhooks(WARM_SECONDS);
    await readUntil(service, wait(WARM_SECONDS * 1000));
    const alone = webhooks(SECONDS);
    const beside = await usedUntil(service, alone);
    const quiet = await alone;
    say('quiet', quiet);
    console.log(
      `    use ${(beside.cpu * 100).toFixed(1)}% of a core, ${(beside.loop * 100).toFixed(1)}% in the event loop`,
    );
    const answered = ask(service, beside);
    for (const round of await whileWaiting(answered, () => webhooks(SECONDS)))
      say('beside the questions', round, quiet);
    const sent = webhooks(SECONDS);
    const read = await readUntil(service, sent);
    say(`beside ${read} answers of insights, readiness and exports`, await sent, quiet);
    await pagesAtOnce(service);
    return await answered;
  } finally {
    await load.stop();
    await gateway.stop();
  }
}

/** What `again` answered, one time after the other, until `end`. */
async function whileWaiting<T>(end: Promise<unknown>, again: () => Promise<T>): Promise<T[]> {
  const state = { over: false };
  const over = end.finally(() => (state.over = true));
  const rounds: T[] = [];
  while (!state.over) rounds.push(await again());
  await over;
  return rounds;
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

function say(when: string, { accepted, p50, p99 }: LoadResult, quiet?: LoadResult): void {
  const against = quiet ? `, ${(p99 / quiet.p99).toFixed(1)}x (goal 1.5x)` : '';
  console.log(
    `  ${PER_SECOND} webhooks a second, ${when}: ${accepted} accepted, p50 ${ms(p50)}, p99 ${ms(p99)}${against}; load ${loadavg()[0]?.toFixed(1)}`,
  );
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
