import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { call } from '../support/call.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { waitFor } from '../support/wait-for.ts';
import { type HealthProbe, MAX_HEALTH_MS, probeHealth } from './probe-health.ts';

const scratch = scratchDirectory('attacks-');
let services: LocalServices;
let probes: HealthProbe[];

const step = (when: string) =>
  `steps: [{name: one, when: '${when}', executor: webhook, url: "http://127.0.0.1:9", on_failure: continue}]`;
/** Time alone bounds these: each of 40,000 steps reads both texts. */
const PIPELINES = {
  'slow-condition': step(
    'metadata.list.all(a, metadata.list.all(b, metadata.one <= metadata.two && metadata.two >= metadata.one))',
  ),
  'long-text': step('metadata.text.contains(metadata.word)'),
};

/** Twelve hundred instructions, on every character that an alert brings under this key. */
const TRIGGER = JSON.stringify({ match: { 'labels.text': { regex: '.{0,300}[qr].{0,300}[st]' } } });

beforeAll(async () => {
  const pipelines = join(scratch.path, 'pipelines');
  mkdirSync(pipelines);
  for (let at = 0; at < 40; at++)
    writeFileSync(
      join(pipelines, `match-${at}.yaml`),
      `name: match-${at}\nstage: production\ntrigger: ${TRIGGER}\n${step('true')}\n`,
    );
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
interface Answered {
  error?: { code: number; message: string };
}

describe('a pattern of trigger.match', () => {
  test.each([
    ['a text that is too long for it', 1, 16_000],
    ['texts that it reads', 5, 1_600],
  ])('of many pipelines on %s holds nobody up', async (_, alerts, length) => {
    const text = 'ab'.repeat(length / 2);
    const of = (at: number) => ({ status: 'firing', fingerprint: `f${at}`, labels: { text }, annotations: {} });
    const body = {
      version: '4',
      status: 'firing',
      groupKey: 'g',
      alerts: Array.from({ length: alerts }, (__, at) => of(at)),
    };
    const { status } = await call(`${services.apiServer.url}/webhook?source=alert_router`, { body });
    expect(status).toBe(422);
  });
});

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
    ['of patterns that take long to compile', heavyPatterns(150), /patterns have more than 5000 instructions/],
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
    const texts = { one: 'ž'.repeat(200_000), two: 'ž'.repeat(200_001) };
    const run = await ended(await start('slow-condition', { list, ...texts }));
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
