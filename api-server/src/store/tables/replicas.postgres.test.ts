import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../fixtures/postgres-server.ts';
import {
  type ServiceProcess,
  startServiceProcess,
  startTarget,
  type Target,
  writeFiles,
} from '../fixtures/service-process.ts';
import { newPostgresDatabase } from '../fixtures/test-database.ts';
import { connectionSettings, openSession } from '../db/postgres-connection.ts';

const PATIENCE = { timeout: 120_000, interval: 50 };
let folder: string;
let server: PostgresServer;
let target: Target;
let databaseUrl: string;
let config: string;
let replicas: ServiceProcess[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-replicas-'));
  server = await startPostgres({ durable: false });
  target = await startTarget();
  const { location } = await newPostgresDatabase(server.url(''));
  const call = (name: string) => ({ name, executor: 'webhook', url: `${target.url}/${name}`, timeout_seconds: 300 });
  const two = { stage: 'production', steps: [call('first'), call('held'), call('last')] };
  const pipelines = {
    'two.yaml': { name: 'two', ...two },
    'one.yaml': { name: 'one', stage: 'production', steps: [call('only')] },
    'lane.yaml': { name: 'lane', ...two, concurrency: { limit: 1, on_limit: 'queue' } },
    'parent.yaml': {
      name: 'parent',
      stage: 'production',
      steps: [{ name: 'sub', executor: 'pipeline', pipeline: 'two' }],
    },
    'ask.yaml': {
      name: 'ask',
      stage: 'production',
      steps: [{ name: 'person', executor: 'human', prompt_template: 'Go on?', timeout_seconds: 600 }, call('only')],
    },
  };
  databaseUrl = 'url' in location ? location.url : '';
  config = writeFiles({
    folder,
    databaseUrl,
    pipelines,
    more: { concurrency: { max_runs: 2, on_full: 'queue' } },
  });
  replicas = [];
});
afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.kill()));
  await target.close();
  await server.remove();
  rmSync(folder, { recursive: true });
});

/** With leases as in production: a process that a busy machine keeps waiting must not be taken for dead. */
async function startBoth(): Promise<void> {
  for (let started = 0; started < 2; started += 1) replicas.push(await startServiceProcess(config));
}
async function members(): Promise<number> {
  const session = await openSession(connectionSettings(databaseUrl, { statement: 0, lock: 0 }));
  try {
    return (await session.query({ text: 'SELECT epoch FROM replicas' })).rows.length;
  } finally {
    await session.end();
  }
}
const [first, second] = [() => replicas[0] as ServiceProcess, () => replicas[1] as ServiceProcess];
const deliver = async (to: ServiceProcess, pipeline: string, key: string) => {
  const { status, body } = await to.call('POST', '/webhook?source=generic', { pipeline, idempotency_key: key });
  expect(status).toBe(202);
  return String(body['run_id']);
};
const statusOf = async (of: ServiceProcess, runId: string) => (await of.call('GET', `/runs/${runId}`)).body['status'];
const becomes = (of: ServiceProcess, runId: string, status: string) =>
  vi.waitFor(async () => expect(await statusOf(of, runId)).toBe(status), PATIENCE);
const calls = (path: string) => target.calls.filter((called) => called === path).length;
const called = (path: string, times: number) => vi.waitFor(() => expect(calls(path)).toBe(times), PATIENCE);

test('the runs of a replica that is killed go on in the other, and their completed steps are not asked again', async () => {
  await startBoth();
  const runs = [await deliver(first(), 'two', 'k'), await deliver(first(), 'parent', 'l')];
  await called('/held', 2);
  await first().kill();
  await called('/held', 4);
  target.release();
  for (const run of runs) await becomes(second(), run, 'completed');
  expect(target.calls.toSorted()).toEqual(['/first', '/first', ...Array(4).fill('/held'), '/last', '/last']);
});

test('a replica that stands still past its lease stores nothing any more, and works again under a new one', async () => {
  await startBoth();
  const run = await deliver(first(), 'two', 'k');
  await called('/held', 1);
  first().freeze();
  await called('/held', 2);
  target.release();
  await becomes(second(), run, 'completed');
  first().thaw();
  const next = await vi.waitFor(() => deliver(first(), 'one', 'm'), PATIENCE);
  await becomes(second(), next, 'completed');
  expect([calls('/first'), calls('/held'), calls('/last')]).toEqual([1, 2, 1]);
});

test('a replica that is told to stop hands its runs over at once', async () => {
  await startBoth();
  const run = await deliver(first(), 'two', 'k');
  await called('/held', 1);
  expect(await members()).toBe(2);
  await first().stop();
  // It has left, so nobody waits for the end of its lease.
  expect(await members()).toBe(1);
  await called('/held', 2);
  target.release();
  await becomes(second(), run, 'completed');
});

test('a question that waits counts in the process that asks it, so that the sum over all is the truth', async () => {
  await startBoth();
  const run = await deliver(first(), 'ask', 'k');
  const pending = async (of: ServiceProcess) =>
    Number(/^service_human_approvals_pending\{team=""\} (\d+)$/m.exec(await of.stream('/metrics'))?.[1]);
  const each = async () => [await pending(first()), await pending(second())];
  await vi.waitFor(async () => expect(await each()).toEqual([1, 0]), PATIENCE);
  await first().kill();
  await vi.waitFor(async () => expect(await pending(second())).toBe(1), PATIENCE);
  expect(await statusOf(second(), run)).toBe('running');
});

test('runs that wait for a slot go to whoever has one', async () => {
  await startBoth();
  const runs = [];
  for (const key of ['a', 'b', 'c', 'd', 'e']) runs.push(await deliver(first(), 'two', key));
  // Two slots here, two there.
  await called('/held', 4);
  expect(await statusOf(first(), runs[4] ?? '')).toBe('queued');
  target.release();
  for (const run of runs) await becomes(second(), run, 'completed');
  expect(calls('/first')).toBe(5);
});

test('a concurrency limit of a pipeline holds across replicas', async () => {
  await startBoth();
  const runs = [
    await deliver(first(), 'lane', 'a'),
    await deliver(second(), 'lane', 'b'),
    await deliver(first(), 'lane', 'c'),
  ];
  await called('/held', 1);
  const live = await Promise.all(runs.map((run) => statusOf(first(), run)));
  expect(live).toEqual(['running', 'queued', 'queued']);
  expect(calls('/first')).toBe(1);
  target.release();
  for (const run of runs) await becomes(second(), run, 'completed');
});

test('a run is cancelled and a question is answered through whichever replica is asked', async () => {
  await startBoth();
  const held = await deliver(first(), 'two', 'k');
  await called('/held', 1);
  expect((await second().call('POST', `/runs/${held}/cancel`)).status).toBe(202);
  await becomes(first(), held, 'cancelled');
  const took: number[] = [];
  for (const key of ['k', 'l', 'm']) {
    const asking = await deliver(first(), 'ask', key);
    const id = await vi.waitFor(async () => {
      const { body } = await second().call('GET', '/approvals?status=pending');
      return (body['approvals'] as { id: string }[])[0]?.id ?? expect.fail();
    }, PATIENCE);
    const asked = Date.now();
    expect((await second().call('POST', `/approvals/${id}`, { decision: 'approve' })).status).toBe(200);
    await becomes(second(), asking, 'completed');
    took.push(Date.now() - asked);
  }
  // Who is not told looks every ten seconds, each time.
  expect(Math.min(...took)).toBeLessThan(5_000);
});

test('the live log of a run can be read from the replica that does not have it', async () => {
  await startBoth();
  const run = await deliver(first(), 'two', 'k');
  await called('/held', 1);
  const reading = second().stream(`/ui/runs/${run}/stream`);
  target.release();
  const text = await reading;
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
  expect(events.map(({ event, type }) => event ?? type).slice(-2)).toEqual(['run_completed', 'run_complete']);
  const seqs = events.flatMap(({ seq }) => (seq === undefined ? [] : [Number(seq)]));
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
});

test('a definition that one replica reads anew is read by the other', async () => {
  await startBoth();
  writeFileSync(
    join(folder, 'pipelines', 'new.yaml'),
    JSON.stringify({ name: 'new', steps: [{ name: 's', executor: 'webhook', url: target.url }] }),
  );
  expect((await first().call('POST', '/reload')).status).toBe(200);
  await vi.waitFor(async () => expect((await second().call('GET', '/pipelines/new')).status).toBe(200), PATIENCE);
});
