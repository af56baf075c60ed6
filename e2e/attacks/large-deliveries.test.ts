import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { KINDS } from '../faults/databases.ts';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { type AttackedDatabase, attackedDatabase } from './attacked-database.ts';
import { type HealthProbe, MAX_HEALTH_MS, probeHealth } from './probe-health.ts';
import { residentBytes } from './resident-bytes.ts';

const MIB = 1024 * 1024;
const step = { name: 'one', when: 'false', executor: 'webhook', url: 'http://127.0.0.1:9' };
/** Time alone bounds the patterns of the first. */
const PIPELINES = [
  {
    name: 'alerts',
    stage: 'production',
    trigger: { match: { alertname: { regex: '^(Disk|Node)+ .*full' }, summary: { regex: '(x+x+)+y' } } },
    steps: [step],
  },
  {
    name: 'all-alerts',
    stage: 'production',
    trigger: { priority: -1, match: { alertname: { regex: 'full' } } },
    steps: [step],
  },
];

describe.each(KINDS)('on %s, deliveries', (kind) => {
  const scratch = scratchDirectory('large-deliveries-');
  let database: AttackedDatabase;
  let service: Service;
  let probe: HealthProbe;
  beforeAll(async () => {
    mkdirSync(join(scratch.path, 'pipelines'));
    for (const pipeline of PIPELINES)
      writeFileSync(join(scratch.path, `pipelines/${pipeline.name}.yaml`), JSON.stringify(pipeline));
    database = await attackedDatabase(kind, scratch.path);
    const settings = {
      server: { host: '127.0.0.1', port: 0 },
      pipeline_config_dir: 'pipelines',
      database: { url: database.url },
      auth: { allow_unauthenticated: true },
      concurrency: { max_runs: 10, on_full: 'queue', max_queued: 10_000 },
    };
    writeFileSync(join(scratch.path, 'config.yaml'), JSON.stringify(settings));
    service = await startService('api-server', join(scratch.path, 'config.yaml'));
  });
  afterAll(async () => {
    await service?.stop();
    await database?.remove();
    scratch.remove();
  });
  beforeEach(() => {
    probe = probeHealth(service.url);
  });
  afterEach(() => {
    probe.stop();
    if (probe.slowest() > MAX_HEALTH_MS) throw new Error(`/health took ${probe.slowest()} ms`);
  });

  const api = <T>(path: string, body?: unknown) => call<T>(`${service.url}${path}`, body === undefined ? {} : { body });
  const delivery = (alerts: object[]) => ({ version: '4', status: 'firing', groupKey: 'g', alerts });
  const alert = (index: number, summary: string) => ({
    status: 'firing',
    fingerprint: `alert-${index}-${summary.length}`,
    labels: { alertname: 'Disk full', severity: 'critical' },
    annotations: { summary },
  });

  const small = (count: number) => Array.from({ length: count }, (_, index) => alert(index, `small ${index}`));
  const many = (count: number, length: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, `${index}`.padEnd(length, 'x')]));

  test('60 alerts with a summary of 660 KB leave every page below 500 KB', async () => {
    for (let index = 0; index < 60; index++) {
      const { status } = await api('/webhook?source=alert_router', delivery([alert(index, 'x&'.repeat(330_000))]));
      expect(status).toBe(202);
    }
    const { body } = await api<{ runs: { id: string; summary: string }[] }>('/runs?limit=60');
    expect(body.runs).toHaveLength(60);
    expect(Math.max(...body.runs.map(({ summary }) => summary.length))).toBeLessThanOrEqual(300);
    for (const page of ['/ui/', '/ui/runs?limit=200', `/ui/runs/${body.runs[0]?.id}`]) {
      const { status, body: html } = await api<string>(page);
      expect(status).toBe(200);
      expect(Buffer.byteLength(html)).toBeLessThan(500_000);
    }
    expect(residentBytes(service)).toBeLessThan(600 * MIB);
  });

  test('one of 0.9 MB with a run for each alert does not multiply in the database', async () => {
    const before = await database.bytes();
    const alerts = Array.from({ length: 210 }, (_, index) => alert(index, `${index}`.padEnd(4000, 'y')));
    const answer = await api<{ runs: unknown[] }>('/webhook?source=alert_router&strategy=per_alert', delivery(alerts));
    expect(answer.body.runs).toHaveLength(210);
    expect((await database.bytes()) - before).toBeLessThan(20 * MIB);
  });

  test.each(['per_alert', 'per_alert&dry_run=true'])('alerts that have 800 KB in common, %s', async (query) => {
    const send = (count: number, common: object) =>
      api(`/webhook?source=alert_router&strategy=${query}`, { ...delivery(small(count)), ...common });
    const dump = many(64, 4200);
    expect(await send(500, { commonAnnotations: dump, commonLabels: dump, groupLabels: dump })).toMatchObject({
      status: 400,
    });
    const { status } = await send(120, { commonAnnotations: many(4, 200_000), groupLabels: many(3, 5000) });
    expect(status).toBe(query === 'per_alert' ? 202 : 200);
    expect(residentBytes(service)).toBeLessThan(800 * MIB);
  });
});
