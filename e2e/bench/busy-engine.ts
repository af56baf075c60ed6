import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type BenchContext, type Benchmark, type Figure, median, milliseconds } from './benchmark.ts';
import { HttpConnection } from './http-connection.ts';
import { drained, type Target, WEBHOOK_TOKEN } from './services.ts';

const RUNS = 10;
const STEPS = 50;
const CONNECTIONS = 2;

/** Whether long runs in progress slow the intake of new alerts. */
export const busyEngine: Benchmark = {
  name: 'busy-engine',
  about: `p99 of the webhook while ${RUNS} runs of ${STEPS} steps are always in progress, compared with an idle engine`,
  async run(context) {
    const { startService, directory, gateway, rounds } = context;
    const place = join(directory, 'service');
    writePipeline(place);
    const service = await startService(place, gateway.url);
    try {
      const idle: number[] = [];
      const busy: number[] = [];
      for (let round = 0; round < rounds; round++) {
        idle.push(await p99(service, context, 'idle'));
        const stop = keepBusy(service, round);
        busy.push(await p99(service, context, 'busy'));
        await stop();
      }
      return figures(median(idle), median(busy));
    } finally {
      await service.process.stop();
    }
  },
};

function writePipeline(place: string): void {
  const steps = Array.from({ length: STEPS }, (_, at) => ({
    name: `s${at}`,
    executor: 'gateway',
    agent: 'bench',
    prompt_template: 'Look at {{summary}}',
  }));
  const trigger = { dedup: { enabled: true, window_seconds: 0 } };
  const pipeline = { name: 'long', stage: 'production', trigger, steps };
  mkdirSync(join(place, 'pipelines'), { recursive: true });
  writeFileSync(join(place, 'pipelines', 'long.yaml'), JSON.stringify(pipeline));
}

async function p99(service: Target, { load, seconds, progress }: BenchContext, word: string): Promise<number> {
  const result = await load.run(service, { connections: CONNECTIONS, amount: { seconds } });
  progress(`${word} p99 ${milliseconds(result.p99)}`);
  if (word === 'idle') await drained(service);
  return result.p99;
}

/** Starts a new long run whenever one has ended, until it is stopped. */
function keepBusy(service: Target, round: number): () => Promise<void> {
  const ending = new AbortController();
  const one = async (concurrencyGroup: number) => {
    const connection = await HttpConnection.open(`${service.process.url}/webhook?source=generic`, WEBHOOK_TOKEN);
    // Deduplicated while the run before is in progress: the key names the concurrency group, so a concurrency group has one run at a time.
    const body = JSON.stringify({
      pipeline: 'long',
      idempotency_key: `${round}-${concurrencyGroup}`,
      summary: 'bench',
    });
    while (!ending.signal.aborted) {
      await connection.post(body);
      await wait(5);
    }
    connection.close();
  };
  const concurrencyGroups = Array.from({ length: RUNS }, (_, concurrencyGroup) => one(concurrencyGroup));
  return async () => {
    ending.abort();
    await Promise.all(concurrencyGroups);
    await drained(service);
  };
}

const figures = (idle: number, busy: number): Figure[] => [
  {
    what: `p99 of the 202 with ${RUNS} runs of ${STEPS} steps in progress`,
    value: busy / idle,
    unit: 'x',
    limit: { direction: 'most', bound: 5 },
    detail: `${milliseconds(busy)} against ${milliseconds(idle)} with an idle engine`,
  },
];
