import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';
import { residentBytes } from './resident-bytes.ts';
import { alert, configureTenants, read } from './tenant-site.ts';

const MIB = 1024 * 1024;
/** What Node takes where the chart's limit of 1 GiB holds. */
const SMALL = '--max-old-space-size=512';
const LARGE = '--max-old-space-size=4096';
/** 48 times 24 answers of 190,000 bytes are more than all runs may hold there. */
const SUB_RUNS = 48;
const ANSWERS = 24;
const FEW = 10;

/** What no compression makes small. */
const ANSWER = JSON.stringify({ text: randomBytes(190_000).toString('base64') });
const backend = createServer((_, response) => {
  response.setHeader('content-type', 'application/json').end(ANSWER);
});

const scratch = scratchDirectory('sub-run-answers-');
let service: Service;
beforeAll(() => once(backend.listen(0, '127.0.0.1'), 'listening'));
afterEach(() => service.stop(1_000));
afterAll(() => {
  backend.close();
  scratch.remove();
});

const ASK = { name: 'ask', executor: 'human', prompt_template: 'Go on?', timeout_seconds: 86_400 };
/** Starts a pipeline so many times at once. */
const each = (pipeline: string, times: number) => ({
  name: 'each',
  fan_out: {
    over: JSON.stringify(Array.from({ length: times }, (_, at) => at)),
    max_items: times,
    max_parallel: times,
    step: { executor: 'pipeline', pipeline },
  },
});

/** `shop` may have one active run. Answers the path of the configuration. */
function configure(folder: string): string {
  const url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}/`;
  const look = { executor: 'webhook', method: 'GET', url, on_failure: 'continue' };
  const looks = Array.from({ length: ANSWERS }, (_, at) => ({ name: `look${at}`, ...look }));
  const quick = { name: 'call', executor: 'webhook', url: 'http://127.0.0.1:1/', when: 'false' };
  const shop = {
    top: { steps: [each('mid', 4)] },
    mid: { steps: [each('leaf', SUB_RUNS / 4)] },
    few: { steps: [each('leaf', FEW)] },
    leaf: { steps: [...looks, ASK] },
  };
  return configureTenants(join(scratch.path, folder), {
    pipelines: { shop, pay: { quick: { steps: [quick] } } },
    namespaces: { shop: { max_runs: 1, egress_allow: ['127.0.0.1/32'] }, pay: {} },
  });
}

const total = async (path: string) => (await read<{ total: number }>(service, path)).total;
const asked = () => total('/approvals?status=pending&limit=1');
const allAsk = (count: number) =>
  waitFor(async () => (await asked()) === count, { what: 'the questions', timeoutMs: 60_000 });

async function completes(alertname: string): Promise<void> {
  const { status, run } = await alert(service, 'quick', { alertname });
  expect(status).toBe(202);
  const ended = async () => (await read<{ status: string }>(service, `/runs/${run}`)).status === 'completed';
  await waitFor(ended, { what: 'the run of the other namespace' });
}

test('what the steps of all sub-runs of a run put out has so much memory, after a restart too, and others go on', async () => {
  const config = configure('kept');
  service = await startService('api-server', config, { nodeFlags: [SMALL] });
  const { run } = await alert(service, 'top');
  await allAsk(SUB_RUNS);
  await completes('Before');
  expect(residentBytes(service)).toBeLessThan(600 * MIB);
  const leaf = (await read<{ runs: { id: string }[] }>(service, '/runs?pipeline=leaf&limit=1')).runs[0]?.id;
  const { steps } = await read<{ steps: { status: string; error: object | null }[] }>(service, `/runs/${leaf}`);
  expect(steps.map(({ error }) => error).findLast((error) => error)).toMatchObject({ type: 'output_invalid' });
  await service.kill();
  service = await startService('api-server', config, { nodeFlags: [SMALL] });
  const health = probeHealth(service.url);
  expect(residentBytes(service)).toBeLessThan(400 * MIB);
  await completes('After');
  await waitFor(async () => (await total('/runs?status=running&limit=1')) === SUB_RUNS + 5, { what: 'the sub-runs' });
  expect(await read<{ status: string }>(service, `/runs/${run}`)).toMatchObject({ status: 'running' });
  expect(residentBytes(service)).toBeLessThan(500 * MIB);
  expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  health.stop();
});

test('a start with less memory ends the runs whose answers it has no room for, and others go on', async () => {
  const config = configure('less');
  service = await startService('api-server', config, { nodeFlags: [LARGE] });
  const { run } = await alert(service, 'few');
  await allAsk(FEW);
  await service.kill();
  service = await startService('api-server', config, { nodeFlags: [SMALL] });
  await completes('After');
  const some = async () => (await total('/runs?pipeline=leaf&status=failed&limit=1')) > FEW / 3;
  await waitFor(some, { what: 'the end of sub-runs', timeoutMs: 60_000 });
  expect(await asked()).toBeGreaterThan(2);
  expect(await read<{ status: string }>(service, `/runs/${run}`)).toMatchObject({ status: 'running' });
});
