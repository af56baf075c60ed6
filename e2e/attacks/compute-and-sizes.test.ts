import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { call } from '../support/call.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { waitFor } from '../support/wait-for.ts';
import { type HealthProbe, probeHealth } from './probe-health.ts';

/** The longest that `/health` may take during an attack. */
const MAX_HEALTH_MS = 2000;

const scratch = scratchDirectory('attacks-');
let services: LocalServices;
let probes: HealthProbe[];

const step = (when: string) =>
  `steps: [{name: one, when: '${when}', executor: webhook, url: "http://127.0.0.1:9", on_failure: continue}]`;
/** Time alone bounds these: each of 40,000 steps reads all keys of a map. */
const PIPELINES = {
  'slow-condition': step('metadata.list.all(a, metadata.list.all(b, size(metadata.map) > 0))'),
  'long-text': step('metadata.text.contains(metadata.word)'),
  alerts: `trigger: {match: {alertname: {regex: "^(Disk|Node)+ .*full"}, summary: {regex: "(x+x+)+y"}}}\n${step('false')}`,
  'all-alerts': `trigger: {priority: -1, match: {alertname: {regex: full}}}\n${step('false')}`,
};

beforeAll(async () => {
  const pipelines = join(scratch.path, 'pipelines');
  mkdirSync(pipelines);
  for (const [name, body] of Object.entries(PIPELINES))
    writeFileSync(join(pipelines, `${name}.yaml`), `name: ${name}\nstage: production\n${body}\n`);
  services = await startLocalServices({
    dataDir: scratch.path,
    change: {
      // The bounds of a schema leave a fast machine less than a second of work.
      gateway: (config) => {
        config.security = { compute_timeout_ms: 100 };
      },
      'api-server': (config) => {
        config.pipeline_config_dir = pipelines;
        config.auth = { allow_unauthenticated: true };
        config.concurrency = { max_runs: 10, on_full: 'queue', max_queued: 10_000 };
      },
    },
  });
});
afterAll(async () => {
  await services?.stop();
  scratch.remove();
});
beforeEach(() => {
  probes = [services.apiServer, services.gateway].map(({ url }) => probeHealth(url));
});
afterEach(() => {
  for (const probe of probes) probe.stop();
  const slowest = Math.max(...probes.map((probe) => probe.slowest()));
  if (slowest > MAX_HEALTH_MS) throw new Error(`/health took ${slowest} ms`);
});

const api = <T>(path: string, body?: unknown) =>
  call<T>(`${services.apiServer.url}${path}`, body === undefined ? {} : { body });
const start = async (pipeline: string, data: object) =>
  (await api<{ run_id: string }>(`/pipelines/${pipeline}/run`, { data })).body.run_id;
interface RunBody {
  status: string;
  error: { message: string } | null;
  steps: { status: string; error: { type: string } | null }[];
}
const ended = (id: string) =>
  waitFor(
    async () => {
      const { body } = await api<RunBody>(`/runs/${id}`);
      return ['queued', 'running'].includes(body.status) ? null : body;
    },
    { what: `the end of run ${id}` },
  );
const residentBytes = (pid: number) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

interface Answered {
  error?: { code: number; message: string };
}

describe('a schema', () => {
  const agentRun = (output_schema: unknown) =>
    new Promise<Answered>((resolve, reject) => {
      const headers = { authorization: `Bearer ${services.tokens.gateway_invoke}` };
      const socket = new WebSocket(`${services.gateway.url.replace('http', 'ws')}/rpc`, { headers });
      const params = { agent: 'sre-triage', input: 'look', output_schema };
      socket.once('error', reject);
      socket.once('open', () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'agent.run', params })));
      socket.on('message', (data) => {
        const frame = JSON.parse(String(data)) as Answered & { id?: number };
        if (frame.id !== 1) return;
        socket.close();
        resolve(frame);
      });
    });

  test.each<[string, unknown, RegExp]>([
    ['of references that multiply', multiplying(), /references multiply/],
    ['of a pattern that takes long to compile', heavyPatterns(150), /took longer than 100 ms/],
  ])('%s is refused by agent.run', async (_, schema, reason) => {
    const { error } = await agentRun(schema);
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(reason) });
  });

  test('of references that multiply is refused with its place when a definition is written', async () => {
    const yaml = `name: hostile\nsteps: [{name: one, executor: gateway, agent: a, prompt_template: hi, output_schema: ${JSON.stringify(multiplying())}}]`;
    const { body } = await api<{ valid: boolean; errors: { loc: unknown[]; msg: string }[] }>('/pipelines/validate', {
      yaml,
    });
    expect(body).toMatchObject({
      valid: false,
      errors: [{ loc: ['steps', 0, 'output_schema'], msg: expect.stringContaining('references multiply') }],
    });
  });
});

describe('an expression', () => {
  test('that no count bounds ends with its time, and its run fails', async () => {
    const list = Array.from({ length: 200 }, (_, index) => index);
    const map = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`k${index}`, index]));
    const run = await ended(await start('slow-condition', { list, map }));
    expect(run.steps).toEqual([
      expect.objectContaining({ status: 'failed', error: expect.objectContaining({ type: 'compute_limit' }) }),
    ]);
  });

  test('on long texts that repeat takes no time to speak of', async () => {
    const run = await ended(await start('long-text', { text: 'a'.repeat(440_000), word: `${'a'.repeat(220_000)}b` }));
    expect(run).toMatchObject({ status: 'completed', steps: [expect.objectContaining({ status: 'skipped' })] });
  });

  test('of patterns that take long to compile is refused when it is written', async () => {
    const yaml = `name: hostile\n${step(Array.from({ length: 20 }, () => `severity.matches("${'a{999}'.repeat(9)}")`).join(' || '))}`;
    const { body } = await api<{ valid: boolean }>('/pipelines/validate', { yaml });
    expect(body).toMatchObject({ valid: false, errors: [{ loc: ['steps', 0, 'when'] }] });
  });
});

const delivery = (alerts: object[]) => ({ version: '4', status: 'firing', groupKey: 'g', alerts });
const alert = (index: number, summary: string) => ({
  status: 'firing',
  fingerprint: `alert-${index}-${summary.length}`,
  labels: { alertname: 'Disk full', severity: 'critical' },
  annotations: { summary },
});

describe('deliveries', () => {
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
    expect(residentBytes(services.apiServer.pid)).toBeLessThan(600 * 1024 * 1024);
  });

  test('one of 0.9 MB with a run for each alert does not multiply in the database', async () => {
    const database = join(scratch.path, 'signalbox.db');
    const size = () => statSync(database).size + statSync(`${database}-wal`).size;
    const before = size();
    const alerts = Array.from({ length: 210 }, (_, index) => alert(index, `${index}`.padEnd(4000, 'y')));
    const answer = await api<{ runs: unknown[] }>('/webhook?source=alert_router&strategy=per_alert', delivery(alerts));
    expect(answer.body.runs).toHaveLength(210);
    expect(size() - before).toBeLessThan(20 * 1024 * 1024);
  });
});

/** Each takes milliseconds to compile. */
function heavyPatterns(count: number) {
  const names = Array.from({ length: count }, (_, index) => `k${index}`);
  return { properties: Object.fromEntries(names.map((name) => [name, { pattern: 'a{999}'.repeat(9) }])) };
}

/** 2.5 KB: each of 40 definitions is made of two of the next. */
function multiplying() {
  const next = (index: number) => ({ $ref: `#/$defs/n${index}` });
  const one = (index: number) => (index === 40 ? { type: 'string' } : { anyOf: [next(index + 1), next(index + 1)] });
  return { ...next(0), $defs: Object.fromEntries(Array.from({ length: 41 }, (_, index) => [`n${index}`, one(index)])) };
}
