import { setTimeout as wait } from 'node:timers/promises';
import { HttpConnection } from '../bench/http-connection.ts';
import type { Random } from './random.ts';

const CONNECTIONS = 8;
const LONGEST_PAUSE_MS = 8;

export interface Senders {
  /** Keys whose answer never came; the next senders send them again. */
  unanswered: string[];
  /** Settles once so many webhooks were answered; asked once. */
  answered: (count: number) => Promise<void>;
  /** Settles when every sender has stopped: on request, or because its connection broke. */
  stopped: Promise<void>;
  stop: () => void;
}

export interface SendOptions {
  url: string;
  token: string;
  /** Sent first: keys left over from before the kill. */
  again: string[];
  nextKey: () => string;
  onAnswer: (key: string, runId: string) => void;
  random: Random;
  /** Answers after which a key is sent again; 429 where nothing is said. */
  refusals?: readonly number[];
}

/** Sends webhooks with unique keys over a few connections until it is stopped or the service dies. */
export function startSenders(options: SendOptions): Senders {
  const unanswered: string[] = [];
  const again = [...options.again];
  const stopping = new AbortController();
  let answers = 0;
  let awaited: { count: number; reached: () => void } | undefined;

  async function send(): Promise<void> {
    const connection = await HttpConnection.open(`${options.url}/webhook?source=generic`, options.token);
    try {
      while (!stopping.signal.aborted) {
        const key = again.shift() ?? options.nextKey();
        if (!(await sendOne(connection, key))) return;
        await wait(options.random() * LONGEST_PAUSE_MS);
      }
    } finally {
      connection.close();
    }
  }

  /** False where the connection broke. A refusal at capacity goes back into the queue. */
  async function sendOne(connection: HttpConnection, key: string): Promise<boolean> {
    const body = JSON.stringify({ pipeline: 'crash', idempotency_key: key, summary: 'A pod restarts' });
    const answer = await connection.post(body).catch(() => undefined);
    if (answer === undefined) {
      unanswered.push(key);
      return false;
    }
    answers++;
    if (awaited && answers >= awaited.count) awaited.reached();
    if (answer.status === 202) options.onAnswer(key, (JSON.parse(answer.body) as { run_id: string }).run_id);
    else if ((options.refusals ?? [429]).includes(answer.status)) again.push(key);
    else throw new Error(`the webhook answered ${answer.status}: ${answer.body}`);
    return true;
  }

  const all = Array.from({ length: CONNECTIONS }, () => send().catch(ignoreRefusedConnection));
  return {
    unanswered,
    answered: (count) =>
      new Promise((reached) => {
        awaited = { count, reached };
      }),
    stopped: Promise.all(all).then(() => void unanswered.push(...again)),
    stop: () => stopping.abort(),
  };
}

/** The service may be gone before the connection is made; then nothing was sent. */
function ignoreRefusedConnection(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ECONNREFUSED' && error.code !== 'ECONNRESET') throw error;
}
