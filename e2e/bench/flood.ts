import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { type BenchContext, type Benchmark, type Figure, median, milliseconds } from './benchmark.ts';
import { HttpConnection } from './http-connection.ts';
import { drained, type Target, WEBHOOK_TOKEN } from './services.ts';

const A_MINUTE = 20_000;
const ACCEPTED_A_SECOND = 100;
const CONNECTIONS = 4;
/** What waits to be stored is stored after two seconds. */
const STORED_MS = 3_000;
const MEGABYTE = 1_000_000;

/** What an alert router that is configured wrongly does to the others: deliveries for a pipeline that nobody has. */
const REFUSED = JSON.stringify({
  pipeline: 'gone',
  summary: 'p99 latency of checkout is over 2 s in namespace shop',
  data: { log: 'x'.repeat(4_000) },
});

/** Whether deliveries that start no run slow those that do, and how much of the disk they take. */
export const flood: Benchmark = {
  name: 'flood',
  about: `p99 of the 202 beside ${A_MINUTE.toLocaleString('en')} refused deliveries a minute compared with none, and what those take of the disk`,
  async run(context) {
    const { startService, directory, gateway, rounds } = context;
    const service = await startService(join(directory, 'service'), gateway.url);
    const took: Record<'quiet' | 'flood', number[]> = { quiet: [], flood: [] };
    try {
      await p99(service, context, 'warm-up');
      for (let round = 0; round < rounds; round++) {
        took.quiet.push(await p99(service, context, 'quiet'));
        const stop = keepRefused(service);
        took.flood.push(await p99(service, context, 'flood'));
        await stop();
      }
      return figures(median(took.quiet), median(took.flood), await growth(service));
    } finally {
      await service.process.stop();
    }
  },
};

async function p99(service: Target, { load, seconds, progress }: BenchContext, word: string): Promise<number> {
  const result = await load.run(service, {
    connections: CONNECTIONS,
    amount: { seconds },
    perSecond: ACCEPTED_A_SECOND,
  });
  progress(`${word} p99 ${milliseconds(result.p99)}`);
  await drained(service);
  return result.p99;
}

const connectTo = (service: Target) =>
  HttpConnection.open(`${service.process.url}/webhook?source=generic`, WEBHOOK_TOKEN);

async function refuse(connection: HttpConnection): Promise<void> {
  const { status } = await connection.post(REFUSED);
  if (status !== 422) throw new Error(`a delivery for no pipeline was answered ${status}`);
}

/** Sends refused deliveries at their rate until it is stopped. */
function keepRefused(service: Target): () => Promise<void> {
  const ending = new AbortController();
  const everyMs = (60_000 * CONNECTIONS) / A_MINUTE;
  const one = async () => {
    const connection = await connectTo(service);
    for (let due = performance.now(); !ending.signal.aborted; due += everyMs) {
      await wait(Math.max(0, due - performance.now()));
      await refuse(connection);
    }
    connection.close();
  };
  const senders = Promise.all(Array.from({ length: CONNECTIONS }, one));
  return async () => {
    ending.abort();
    await senders;
  };
}

/** Bytes that a minute's refused deliveries take, sent as fast as they are answered. */
async function growth(service: Target): Promise<number> {
  const before = bytesOf(service);
  const one = async () => {
    const connection = await connectTo(service);
    for (let sent = 0; sent < A_MINUTE / CONNECTIONS; sent++) await refuse(connection);
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  await wait(STORED_MS);
  return bytesOf(service) - before;
}

/** Of all committed pages, those in the write-ahead log too. */
function bytesOf({ databaseFile }: Target): number {
  const db = new DatabaseSync(databaseFile, { readOnly: true });
  try {
    const valueOf = (pragma: string) => Number(db.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
    return valueOf('page_count') * valueOf('page_size');
  } finally {
    db.close();
  }
}

const figures = (quiet: number, beside: number, bytes: number): Figure[] => [
  {
    what: `p99 of the 202 beside ${A_MINUTE.toLocaleString('en')} refused deliveries a minute`,
    value: beside / quiet,
    unit: 'x',
    limit: { direction: 'most', bound: 1.5 },
    detail: `${milliseconds(beside)} against ${milliseconds(quiet)} with none, at ${ACCEPTED_A_SECOND} accepted a second`,
  },
  {
    what: `what ${A_MINUTE.toLocaleString('en')} refused deliveries add to the database`,
    value: bytes / MEGABYTE,
    unit: 'MB',
    limit: { direction: 'most', bound: 40 },
  },
];
