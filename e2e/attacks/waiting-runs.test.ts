import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';

const MIB = 1024 * 1024;
/** What Node takes where the chart's limit of 1 GiB holds. */
const nodeFlags = ['--max-old-space-size=512'];
const ask = { name: 'ask', executor: 'human', prompt_template: 'May it go on?', timeout_seconds: 86_400 };
/** Each of its values takes fifty bytes and more in memory. */
const VALUES = `[${'{},'.repeat(340_000)}{}]`;
const TEXT = JSON.stringify('x'.repeat(1_000_000));

const scratch = scratchDirectory('waiting-runs-');
const config = join(scratch.path, 'config.yaml');
let service: Service;
beforeAll(async () => {
  mkdirSync(join(scratch.path, 'pipelines'));
  writeFileSync(
    join(scratch.path, 'pipelines/asks.yaml'),
    JSON.stringify({ name: 'asks', stage: 'production', steps: [ask] }),
  );
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    pipeline_config_dir: join(scratch.path, 'pipelines'),
    database: { url: `sqlite:///${join(scratch.path, 'signalbox.sqlite')}` },
    auth: { allow_unauthenticated: true },
  };
  writeFileSync(config, JSON.stringify(settings));
  service = await startService('api-server', config, { nodeFlags });
});
afterAll(async () => {
  await service?.stop();
  scratch.remove();
});

const residentBytes = () =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) * 1024;
const deliver = async (key: string, data: string) => {
  const body = `{"pipeline":"asks","idempotency_key":"${key}","data":{"a":${data}}}`;
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${service.url}/webhook?source=generic`, { method: 'POST', headers, body });
  return { status: answer.status, body: (await answer.json()) as { run_id?: string; detail?: { message: string } } };
};

test('40 alerts of 340,000 values whose runs wait for a person take no memory to speak of, nor does the next start', async () => {
  for (let index = 0; index < 40; index++) expect((await deliver(`v${index}`, VALUES)).status).toBe(202);
  expect(residentBytes()).toBeLessThan(900 * MIB);
  await service.kill();
  service = await startService('api-server', config, { nodeFlags });
  expect(residentBytes()).toBeLessThan(600 * MIB);
  const { body } = await call<{ total: number }>(`${service.url}/runs?status=running&limit=1`);
  expect(body.total).toBe(40);
});

test('where runs that wait hold half of the memory, a further alert is refused until one of them ends', async () => {
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
  expect(residentBytes()).toBeLessThan(1024 * MIB);
  for (const id of runs.slice(0, 2)) await call(`${service.url}/runs/${id}/cancel`, { method: 'POST' });
  expect((await deliver('again', TEXT)).status).toBe(202);
});
