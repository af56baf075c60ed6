import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { residentBytes } from './resident-bytes.ts';

const MIB = 1024 * 1024;
/** What Node takes where the chart's limit of 1 GiB holds. */
const nodeFlags = ['--max-old-space-size=512'];
const ask = { name: 'ask', executor: 'human', prompt_template: 'May it go on?', timeout_seconds: 86_400 };
/** Each of its values takes fifty bytes and more in memory. */
const VALUES = `[${'{},'.repeat(340_000)}{}]`;
const TEXT = JSON.stringify('x'.repeat(1_000_000));

/** Answers with what no compression makes small. */
const backend = createServer((_, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ text: randomBytes(90_000).toString('base64') }));
});

const scratch = scratchDirectory('waiting-runs-');
const config = join(scratch.path, 'config.yaml');
let service: Service;
beforeAll(async () => {
  mkdirSync(join(scratch.path, 'pipelines'));
  writeFileSync(
    join(scratch.path, 'pipelines/asks.yaml'),
    JSON.stringify({ name: 'asks', stage: 'production', steps: [ask] }),
  );
  const long = { ...ask, prompt_template: '{{vars.text}}'.repeat(4) };
  writeFileSync(
    join(scratch.path, 'pipelines/asks-long.yaml'),
    JSON.stringify({ name: 'asks-long', stage: 'production', vars: { text: 'x'.repeat(60_000) }, steps: [long] }),
  );
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    pipeline_config_dir: join(scratch.path, 'pipelines'),
    database: { url: `sqlite:///${join(scratch.path, 'signalbox.sqlite')}` },
    auth: { allow_unauthenticated: true },
    concurrency: { max_runs: 1000 },
    security: { egress_allow: ['127.0.0.1'] },
  };
  writeFileSync(config, JSON.stringify(settings));
  await once(backend.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}/`;
  const looks = Array.from({ length: 20 }, (_, index) => ({
    name: `look${index}`,
    executor: 'webhook',
    method: 'GET',
    url,
  }));
  writeFileSync(
    join(scratch.path, 'pipelines/looks.yaml'),
    JSON.stringify({ name: 'looks', stage: 'production', steps: [...looks, ask] }),
  );
  service = await startService('api-server', config, { nodeFlags });
});
afterAll(async () => {
  await service?.stop();
  backend.close();
  scratch.remove();
});

const deliver = async (key: string, data: string, pipeline = 'asks') => {
  const body = `{"pipeline":"${pipeline}","idempotency_key":"${key}","data":{"a":${data}}}`;
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${service.url}/webhook?source=generic`, { method: 'POST', headers, body });
  return { status: answer.status, body: (await answer.json()) as { run_id?: string; detail?: { message: string } } };
};

test('40 alerts of 340,000 values whose runs wait for a person take no memory to speak of, nor does the next start', async () => {
  for (let index = 0; index < 40; index++) expect((await deliver(`v${index}`, VALUES)).status).toBe(202);
  expect(residentBytes(service)).toBeLessThan(900 * MIB);
  await service.kill();
  service = await startService('api-server', config, { nodeFlags });
  const running = async () =>
    (await call<{ total: number }>(`${service.url}/runs?status=running&limit=1`)).body.total === 40;
  await waitFor(running, { what: 'all runs to go on', timeoutMs: 60_000 });
  expect(residentBytes(service, 'VmHWM')).toBeLessThan(900 * MIB);
});

test('where runs that wait hold a third of the memory, a further alert is refused until one of them ends', async () => {
  const runs: string[] = [];
  let refused: Awaited<ReturnType<typeof deliver>> | undefined;
  for (let index = 0; index < 400 && !refused; index++) {
    const answer = await deliver(`t${index}`, TEXT);
    if (answer.status === 202) runs.push(answer.body.run_id as string);
    else refused = answer;
  }
  expect(refused).toMatchObject({
    status: 429,
    body: { detail: { message: expect.stringContaining('decide their approvals') } },
  });
  expect(residentBytes(service)).toBeLessThan(1024 * MIB);
  for (const id of runs.slice(0, 2)) await call(`${service.url}/runs/${id}/cancel`, { method: 'POST' });
  expect((await deliver('again', TEXT)).status).toBe(202);
  for (const id of runs) await call(`${service.url}/runs/${id}/cancel`, { method: 'POST' });
});

test('what waiting runs ask counts too', async () => {
  const runs: string[] = [];
  let refused = false;
  for (let index = 0; index < 1_500 && !refused; index++) {
    const { status, body } = await deliver(`q${index}`, '{}', 'asks-long');
    if (body.run_id) runs.push(body.run_id);
    refused = status === 429;
  }
  expect(refused).toBe(true);
  expect(residentBytes(service)).toBeLessThan(1024 * MIB);
  for (const id of runs) await call(`${service.url}/runs/${id}/cancel`, { method: 'POST' });
});

test('what the steps of waiting runs put out counts too', async () => {
  const answers: number[] = [];
  const before = await questions();
  for (let index = 0; index < 300 && answers.at(-1) !== 429; index++) {
    const { status, body } = await deliver(`l${index}`, '{}', 'looks');
    answers.push(status);
    const asked = async () => (await questions()) > before + index;
    if (body.run_id) await waitFor(asked, { what: 'the question', timeoutMs: 60_000 });
  }
  expect(answers.at(-1)).toBe(429);
  expect(residentBytes(service)).toBeLessThan(1024 * MIB);
});

const questions = async () =>
  (await call<{ total: number }>(`${service.url}/approvals?status=pending&limit=1`)).body.total;
