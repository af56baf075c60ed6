import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { fastify } from 'fastify';
import { WebSocket } from 'ws';

/**
 * The limit that the product is measured against: the least honest work for the same promise, on the same libraries.
 * An accepted webhook is durable before its 202; a repeat is answered `deduplicated`; without `--gateway` that is all.
 * With it, each run calls `agent.run` over one WebSocket and its step and its end are stored.
 */
const { values } = parseArgs({
  options: {
    database: { type: 'string' },
    token: { type: 'string', default: 'webhook' },
    gateway: { type: 'string' },
    'gateway-token': { type: 'string', default: 'gateway' },
    'max-runs': { type: 'string', default: '1000' },
  },
});
if (!values.database) throw new Error('--database FILE is required');
const maxRuns = Number(values['max-runs']);

const db = new DatabaseSync(values.database);
db.exec(`
  PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, pipeline TEXT NOT NULL, dedup_key TEXT, status TEXT NOT NULL,
    payload TEXT NOT NULL, triggered_at TEXT NOT NULL, completed_at TEXT) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS runs_dedup ON runs (pipeline, dedup_key);
  CREATE TABLE IF NOT EXISTS steps (run_id TEXT NOT NULL REFERENCES runs (id), step_name TEXT NOT NULL, status TEXT NOT NULL,
    confidence REAL, output TEXT, completed_at TEXT, PRIMARY KEY (run_id, step_name)) STRICT, WITHOUT ROWID;
`);
const insertRun = db.prepare(`INSERT INTO runs VALUES (?, ?, ?, 'running', ?, ?, NULL) ON CONFLICT DO NOTHING`);
const findRun = db.prepare('SELECT id FROM runs WHERE pipeline = ? AND dedup_key = ?');
const insertStep = db.prepare(`INSERT INTO steps VALUES (?, ?, 'completed', ?, ?, ?)`);
const completeRun = db.prepare(`UPDATE runs SET status = 'completed', completed_at = ? WHERE id = ?`);
const begin = db.prepare('BEGIN IMMEDIATE');
const commit = db.prepare('COMMIT');

/** Group commit: the writes of one event loop turn share a transaction; each resolves after the fsync. */
const pending: { write: () => unknown; done: (result: never) => void }[] = [];
function inTransaction<T>(write: () => T): Promise<T> {
  return new Promise((done) => {
    if (pending.push({ write, done }) === 1) setImmediate(flush);
  });
}
function flush(): void {
  const batch = pending.splice(0);
  begin.run();
  const results = batch.map(({ write }) => write());
  commit.run();
  batch.forEach(({ done }, index) => done(results[index] as never));
}

interface Answer {
  output: { confidence: number };
}
const waiting = new Map<number, (answer: Answer) => void>();
const socket = values.gateway ? await connect(values.gateway) : undefined;
let calls = 0;
let active = 0;

async function connect(url: string): Promise<WebSocket> {
  const opened = new WebSocket(url, {
    headers: { authorization: `Bearer ${values['gateway-token']}` },
    perMessageDeflate: false,
  });
  await new Promise((resolve, reject) => opened.once('open', resolve).once('error', reject));
  opened.on('message', (data) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: Answer };
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  return opened;
}

async function run(id: string, summary: string): Promise<void> {
  const params = {
    agent: 'bench',
    input: summary,
    idempotency_key: `${id}/investigate/0/1`,
    metadata: { run_id: id, step_name: 'investigate' },
  };
  const answer = await new Promise<Answer>((resolve) => {
    waiting.set(++calls, resolve);
    socket?.send(JSON.stringify({ jsonrpc: '2.0', id: calls, method: 'agent.run', params }));
  });
  await inTransaction(() => {
    const now = new Date().toISOString();
    insertStep.run(id, 'investigate', answer.output.confidence, JSON.stringify(answer.output), now);
    completeRun.run(now, id);
  });
  active--;
}

const app = fastify();
app.get('/health', () => ({ status: 'ok', active_runs: active, max_concurrent_runs: maxRuns }));
app.post<{ Body: { pipeline: string; idempotency_key?: string; summary?: string } }>(
  '/webhook',
  async (request, reply) => {
    if (request.headers.authorization !== `Bearer ${values.token}`) return reply.code(401).send();
    if (active >= maxRuns) return reply.code(429).send();
    const { pipeline, idempotency_key: key = null, summary = '' } = request.body;
    const id = randomUUID();
    const existing = await inTransaction(() => {
      const { changes } = insertRun.run(id, pipeline, key, JSON.stringify(request.body), new Date().toISOString());
      return changes === 1 ? undefined : findRun.get(pipeline, key);
    });
    if (existing) return reply.code(202).send({ status: 'deduplicated', run_id: existing['id'] });
    if (socket) {
      active++;
      void run(id, summary);
    }
    return reply.code(202).send({ status: 'accepted', run_id: id });
  },
);
console.log(JSON.stringify({ msg: 'listening', url: await app.listen({ host: '127.0.0.1', port: 0 }) }));
