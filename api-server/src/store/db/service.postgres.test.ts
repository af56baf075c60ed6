import { mkdtempSync, rmSync } from 'node:fs';
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

const PATIENCE = { timeout: 120_000, interval: 50 };
let folder: string;
let server: PostgresServer;
let target: Target;
let service: ServiceProcess;
let config: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-service-'));
  server = await startPostgres({ durable: true });
  target = await startTarget();
  const { location } = await newPostgresDatabase(server.url(''));
  const step = (name: string) => ({ name, executor: 'webhook', url: `${target.url}/${name}` });
  const pipelines = {
    'two.yaml': { name: 'two', stage: 'production', steps: [step('first'), step('held')] },
    'one.yaml': { name: 'one', stage: 'production', steps: [step('only')] },
  };
  config = writeFiles({ folder, databaseUrl: 'url' in location ? location.url : '', pipelines });
  service = await startServiceProcess(config);
});
afterEach(async () => {
  await service.kill();
  await target.close();
  await server.remove();
  rmSync(folder, { recursive: true });
});

const deliver = (pipeline: string, key: string) =>
  service.call('POST', '/webhook?source=generic', { pipeline, idempotency_key: key });
const statusOf = async (runId: unknown) => (await service.call('GET', `/runs/${String(runId)}`)).body['status'];

test('a run that a crash interrupts goes on after the start, and its completed step is not asked again', async () => {
  const { status, body } = await deliver('two', 'k');
  expect([status, body['status']]).toEqual([202, 'accepted']);
  await vi.waitFor(() => expect(target.calls).toEqual(['/first', '/held']), PATIENCE);
  await service.kill();
  service = await startServiceProcess(config);
  expect((await deliver('two', 'k')).body['status']).toBe('deduplicated');
  await vi.waitFor(() => expect(target.calls).toEqual(['/first', '/held', '/held']), PATIENCE);
  target.release();
  await vi.waitFor(async () => expect(await statusOf(body['run_id'])).toBe('completed'), PATIENCE);
});

test('without its server the service says unavailable and lives; a running run goes on when the server is back', async () => {
  const held = (await deliver('two', 'k')).body['run_id'];
  await vi.waitFor(() => expect(target.calls).toContain('/held'), PATIENCE);
  await server.stop('immediate');
  expect(await deliver('one', 'while-down')).toMatchObject({ status: 503, body: { detail: { type: 'unavailable' } } });
  expect(await service.call('GET', '/runs')).toMatchObject({ status: 503, body: { detail: { type: 'unavailable' } } });
  expect((await service.call('GET', '/health')).status).toBe(200);
  await vi.waitFor(async () => expect((await service.call('GET', '/ready')).status).toBe(503), PATIENCE);
  target.release();
  await server.start();
  await vi.waitFor(async () => expect((await service.call('GET', '/ready')).status).toBe(200), PATIENCE);
  const { status, body } = await deliver('one', 'while-down');
  expect([status, body['status']]).toEqual([202, 'accepted']);
  for (const runId of [held, body['run_id']]) {
    await vi.waitFor(async () => expect(await statusOf(runId)).toBe('completed'), PATIENCE);
  }
});
