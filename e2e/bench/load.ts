import { setTimeout as wait } from 'node:timers/promises';
import { createHistogram, performance } from 'node:perf_hooks';
import { HttpConnection } from './http-connection.ts';

/** One round of load; runs in a separate process and communicates over the fork channel. */
export interface LoadJob {
  url: string;
  token: string;
  connections: number;
  /** Distinguishes the idempotency keys of this round from all others. */
  round: string;
  /** seconds: keep going that long · requests: that many unique keys · keys: every connection sends each of that many keys. */
  amount: { seconds: number } | { requests: number } | { keys: number };
  /** Requests are due at this rate, and their latency counts from then; absent for as many as go. */
  perSecond?: number;
}

export interface LoadResult {
  /** Answers by the `status` of their body, or by HTTP status where it is not 202. */
  answers: Record<string, number>;
  accepted: number;
  seconds: number;
  /** Of accepted requests, in milliseconds. */
  p50: number;
  p99: number;
}

/** What a connection waits after a 429, so that refusals do not become the load. */
const REFUSED_PAUSE_MS = 5;

export async function runLoad(job: LoadJob): Promise<LoadResult> {
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => HttpConnection.open(job.url, job.token)),
  );
  const answers: Record<string, number> = {};
  const latency = createHistogram();
  const start = performance.now();
  const keys = keySequence(job, start);
  const due = dueTimes(job, start);

  await Promise.all(
    connections.map(async (connection) => {
      for (const key of keys()) {
        const sent = await due();
        const answer = await connection.post(requestBody(key));
        const kind = answer.status === 202 ? String(JSON.parse(answer.body).status) : String(answer.status);
        answers[kind] = (answers[kind] ?? 0) + 1;
        if (kind === 'accepted') latency.record(Math.max(1, Math.round((performance.now() - sent) * 1000)));
        if (answer.status === 429) await wait(REFUSED_PAUSE_MS);
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  for (const connection of connections) connection.close();
  return {
    answers,
    accepted: answers['accepted'] ?? 0,
    seconds,
    p50: latency.percentile(50) / 1000,
    p99: latency.percentile(99) / 1000,
  };
}

/** Waits until the next request is due; answers that moment. */
function dueTimes({ perSecond }: LoadJob, start: number): () => Promise<number> {
  let count = 0;
  return async () => {
    if (perSecond === undefined) return performance.now();
    const due = start + (count++ * 1000) / perSecond;
    await wait(Math.max(0, due - performance.now()));
    return due;
  };
}

function keySequence({ round, amount }: LoadJob, start: number): () => Generator<string> {
  let count = 0;
  return function* () {
    if ('keys' in amount) for (let key = 0; key < amount.keys; key++) yield `${round}-${key}`;
    else if ('requests' in amount) while (count < amount.requests) yield `${round}-${count++}`;
    else while (performance.now() - start < amount.seconds * 1000) yield `${round}-${count++}`;
  };
}

/** A generic delivery of the size that a monitoring system sends (about 400 bytes), ASCII. */
export function requestBody(key: string): string {
  return JSON.stringify({
    pipeline: 'bench',
    event: 'latency_high',
    source: 'bench',
    idempotency_key: key,
    summary: 'p99 latency of checkout is over 2 s in namespace shop',
    data: {
      service: 'checkout',
      namespace: 'shop',
      cluster: 'west-1',
      runbook: 'https://runbooks.example.com/checkout/latency',
      value: 2.31,
    },
  });
}

if (import.meta.main) {
  process.on('message', (job: LoadJob) => {
    runLoad(job).then(
      (result) => process.send?.({ result }),
      (error: Error) => process.send?.({ error: error.message }),
    );
  });
  process.on('disconnect', () => process.exit());
}
