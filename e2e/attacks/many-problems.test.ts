import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';
import { residentBytes } from './resident-bytes.ts';

const MIB = 1024 * 1024;
const scratch = scratchDirectory('many-problems-');
const pipelines = join(scratch.path, 'pipelines');
const steps = join(scratch.path, 'steps');
let service: Service;
beforeAll(async () => {
  for (const folder of [pipelines, steps]) mkdirSync(folder);
  const config = join(scratch.path, 'config.json');
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    pipeline_config_dir: pipelines,
    step_library_dir: steps,
    database: { url: 'sqlite:signalbox.db' },
    auth: { allow_unauthenticated: true },
  };
  writeFileSync(config, JSON.stringify(settings));
  service = await startService('api-server', config, { nodeFlags: ['--max-old-space-size=512'] });
});
afterAll(async () => {
  await service?.stop(1_000);
  scratch.remove();
});

const write = (folder: string, body: { name: string; [key: string]: unknown }) =>
  writeFileSync(join(folder, `${body.name}.yaml`), JSON.stringify(body));

/** The problems that are listed of the files that begin so, once the service has read them. */
async function reload(name: string): Promise<{ count: number; chars: number; slowest: number }> {
  const health = probeHealth(service.url);
  const answer = await call<{ errors: object[]; warnings: { file: string }[] }>(`${service.url}/reload`, {
    body: {},
    timeoutMs: 60_000,
  });
  const slowest = health.slowest();
  health.stop();
  expect(answer.status).toBe(200);
  const listed = answer.body.warnings.filter(({ file }) => file.startsWith(`pipelines/${name}`));
  return { count: listed.length, chars: JSON.stringify(answer.body).length, slowest };
}

test('a long key with a hundred problems takes little memory of each pipeline that uses its step', async () => {
  const variables = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`k${at}`, `\${A${at}}`]));
  const payload = { [`k${'x'.repeat(235_000)}`]: variables };
  write(steps, { name: 'long', executor: 'webhook', url: 'http://x', payload });
  for (let at = 0; at < 40; at++) write(pipelines, { name: `key${at}`, steps: [{ name: 'a', use: 'long' }] });
  const { count, chars } = await reload('key');
  expect(count).toBeGreaterThan(40 * 10);
  expect(chars).toBeLessThan(2 * MIB);
  expect(residentBytes(service, 'VmHWM')).toBeLessThan(500 * MIB);
});

const MESSAGES = Array.from({ length: 8 }, () => ({ channel: 'webhook' }));
const EVENTS = ['approval', 'escalate', 'abort', 'stop', 'fail', 'complete'];

test('thousands of messages of each pipeline that uses a step hold nobody up, when it is new and when it is not', async () => {
  const notifications = Object.fromEntries(EVENTS.map((event) => [event, MESSAGES]));
  const asking = { executor: 'human', prompt_template: 'x', timeout_seconds: 5 };
  write(steps, { name: 'loud', ...asking, notifications });
  const branches = (group: number) => Array.from({ length: 16 }, (_, at) => ({ name: `s${group}x${at}`, use: 'loud' }));
  const groups = Array.from({ length: 5 }, (_, at) => ({ name: `g${at}`, parallel: { steps: branches(at) } }));
  for (let at = 0; at < 100; at++) write(pipelines, { name: `loud${at}`, steps: groups });
  for (let at = 0; at < 2; at++) {
    const { count, slowest } = await reload('loud');
    expect(count).toBeGreaterThanOrEqual(100);
    expect(slowest).toBeLessThan(MAX_HEALTH_MS);
  }
});
