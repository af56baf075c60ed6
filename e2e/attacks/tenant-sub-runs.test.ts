import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';
import { alert, configureTenants, type Pipelines, read } from './tenant-site.ts';

const scratch = scratchDirectory('tenant-sub-runs-');
let service: Service;
afterEach(() => service.stop(1_000));
afterAll(() => scratch.remove());

const ASK = { name: 'ask', executor: 'human', prompt_template: 'Go on?', timeout_seconds: 3_600 };
/** Starts a pipeline so many times at once. */
const each = (pipeline: string, times: number, context = {}) => ({
  name: 'each',
  fan_out: {
    over: JSON.stringify(Array.from({ length: times }, (_, at) => at)),
    max_items: times,
    max_parallel: times,
    step: { executor: 'pipeline', pipeline, context },
  },
});

type Sent = { notifications: { status: string }[] };

/** An api-server with pipelines by namespace; `shop` may have one active run. */
async function start(folder: string, pipelines: Pipelines) {
  const namespaces = { shop: { max_runs: 1, egress_allow: ['127.0.0.1/32'] }, pay: {} };
  service = await startService('api-server', configureTenants(join(scratch.path, folder), { pipelines, namespaces }));
}

const total = async (pipeline: string) =>
  (await read<{ total: number }>(service, `/runs?pipeline=${pipeline}&limit=1`)).total;

test('one run of a tenant whose sub-runs have sub-runs works on so many of them at a time, and others go on', async () => {
  const looks = { name: 'call', executor: 'webhook', url: 'http://127.0.0.1:1/', when: 'false' };
  await start('tree', {
    shop: {
      top: { steps: [each('mid', 50)] },
      mid: { steps: [each('low', 50)] },
      low: { steps: [each('leaf', 50)] },
      leaf: { steps: [ASK] },
    },
    pay: { looks: { steps: [looks] } },
  });
  const health = probeHealth(service.url);
  await alert(service, 'top');
  const all = async () => (await total('mid')) + (await total('low')) + (await total('leaf'));
  await waitFor(async () => (await all()) >= 400, { what: 'the sub-runs' });
  for (let at = 0; at < 20; at++) {
    const { run } = await alert(service, 'looks', { alertname: `Busy ${at}` });
    const ended = async () => (await read<{ status: string }>(service, `/runs/${run}`)).status === 'completed';
    await waitFor(ended, { what: 'the run of the other namespace' });
  }
  expect(await all()).toBeLessThan(500);
  expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  health.stop();
});

test('the messages of sub-runs of a tenant that end in one moment hold nobody up', async () => {
  const template = '{{#each vars.many}}{{this}}{{/each}}';
  const fail = Array.from({ length: 8 }, () => ({ channel: 'log', template }));
  await start('messages', {
    shop: {
      top: { steps: [each('mid', 4)] },
      mid: { steps: [each('leaf', 40)] },
      leaf: {
        vars: { many: Array.from({ length: 9000 }, () => 'many') },
        steps: [{ ...ASK, timeout_seconds: 5 }],
        notifications: { fail },
      },
    },
  });
  const health = probeHealth(service.url);
  const { run } = await alert(service, 'top');
  const ended = async () => (await read<{ status: string }>(service, `/runs/${run}`)).status === 'failed';
  await waitFor(ended, { what: 'the run' });
  expect(await total('leaf')).toBe(160);
  expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  health.stop();
});

test('thousands of messages of a tenant do not come before one of others', async () => {
  const looks = { name: 'call', executor: 'webhook', url: 'http://127.0.0.1:1/', when: 'false' };
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const complete = Array.from({ length: 8 }, () => ({ channel: 'webhook', config: { url } }));
  await start('outbox', {
    shop: {
      top: { steps: [each('mid', 39)] },
      mid: { steps: [each('leaf', 50)] },
      leaf: { steps: [looks], notifications: { complete } },
    },
    pay: { looks: { steps: [looks], notifications: { complete: [{ channel: 'log' }] } } },
  });
  await alert(service, 'top');
  await waitFor(async () => (await total('leaf')) === 39 * 50, { what: 'the sub-runs' });
  const { run } = await alert(service, 'looks');
  const sent = async () => (await read<Sent>(service, `/notifications?run=${run}`)).notifications[0]?.status === 'sent';
  await waitFor(sent, { what: 'the message of the other namespace', timeoutMs: 10_000 });
  silent.close();
});

test('sub-runs of a tenant that wait for their own pipeline leave the places of the queue to others', async () => {
  await start('groups', {
    shop: {
      top: { steps: [each('mid', 3)] },
      mid: { steps: [each('leaf', 50)] },
      leaf: { concurrency: { limit: 1 }, steps: [ASK] },
    },
    pay: { single: { concurrency: { limit: 1 }, steps: [ASK] } },
  });
  await alert(service, 'top');
  await waitFor(async () => (await total('leaf')) === 150, { what: 'the sub-runs' });
  expect((await alert(service, 'single', { alertname: 'First' })).status).toBe(202);
  expect((await alert(service, 'single', { alertname: 'Second' })).status).toBe(202);
});

test('long fields of sub-runs leave the list of runs short, and no team is long', async () => {
  const looks = { name: 'call', executor: 'webhook', url: 'http://127.0.0.1:1/', when: 'false' };
  const vars = { t: 'x'.repeat(60_000) };
  const long = '{{vars.t}}'.repeat(6);
  await start('fields', {
    shop: {
      top: { vars, steps: [each('leaf', 50, { severity: long, labels: { note: long } })] },
      leaf: { steps: [looks] },
    },
    ops: { own: { vars, steps: [each('mine', 50, { team: long })] }, mine: { steps: [looks] } },
  });
  await alert(service, 'top');
  const { run } = await alert(service, 'own');
  await waitFor(async () => (await total('leaf')) === 50, { what: 'the sub-runs' });
  const ended = async () => (await read<{ status: string }>(service, `/runs/${run}`)).status === 'failed';
  await waitFor(ended, { what: 'the run of the operator', timeoutMs: 5_000 });
  expect(await total('mine')).toBe(0);
  expect(JSON.stringify(await read(service, '/runs?limit=200')).length).toBeLessThan(100_000);
});
