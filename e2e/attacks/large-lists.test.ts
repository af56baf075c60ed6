import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
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

const scratch = scratchDirectory('large-lists-');
let service: Service;
afterEach(() => service.stop(1_000));
afterAll(() => scratch.remove());

const listOf = (name: string, times: number) => `[${Array<string>(times).fill(name).join()}]`;
const ask = { executor: 'human', prompt_template: 'Go on?', timeout_seconds: 86_400 };
const quick = { name: 'call', executor: 'webhook', url: 'http://127.0.0.1:1/', when: 'false' };

/** 45 sub-runs, each with a list of 8 MiB that names one text again and again. Answers the path of the configuration. */
function configure(folder: string): string {
  const each = {
    over: listOf('1', 45),
    max_items: 45,
    max_parallel: 45,
    step: { executor: 'pipeline', pipeline: 'leaf' },
  };
  const asks = { over: listOf('vars.text', 32), max_items: 32, max_parallel: 1, step: ask };
  const shop = {
    top: { steps: [{ name: 'each', fan_out: each }] },
    leaf: { vars: { text: 'x'.repeat(250_000) }, steps: [{ name: 'asks', fan_out: asks }] },
  };
  return configureTenants(join(scratch.path, folder), {
    pipelines: { shop, pay: { quick: { steps: [quick] } } },
    namespaces: { shop: {}, pay: {} },
  });
}

const total = async (path: string) => (await read<{ total: number }>(service, path)).total;
const leaves = (status: string) => total(`/runs?pipeline=leaf&status=${status}&limit=1`);

/** All of them have asked or have failed. */
async function allBegan(): Promise<number> {
  const asked = () => total('/approvals?status=pending&limit=1');
  await waitFor(async () => (await asked()) + (await leaves('failed')) === 45, {
    what: 'the lists',
    timeoutMs: 60_000,
  });
  return asked();
}

async function completes(alertname: string): Promise<void> {
  const { status, run } = await alert(service, 'quick', { alertname });
  expect(status).toBe(202);
  const ended = async () => (await read<{ status: string }>(service, `/runs/${run}`)).status === 'completed';
  await waitFor(ended, { what: 'the run of the other namespace' });
}

test('lists of the fan-outs of many sub-runs have so much memory, after a restart too, and others go on', async () => {
  const config = configure('kept');
  service = await startService('api-server', config, { nodeFlags: [SMALL] });
  const { run } = await alert(service, 'top');
  const asked = await allBegan();
  expect(asked).toBeGreaterThan(0);
  await completes('Before');
  const failed = await read<{ runs: { id: string }[] }>(service, '/runs?pipeline=leaf&status=failed&limit=1');
  const { steps } = await read<{ steps: { error: object | null }[] }>(service, `/runs/${failed.runs[0]?.id}`);
  expect(steps[0]?.error).toMatchObject({ type: 'prompts_too_large' });
  await service.kill();
  service = await startService('api-server', config, { nodeFlags: [SMALL] });
  const health = probeHealth(service.url);
  await completes('After');
  expect(await allBegan()).toBe(asked);
  expect(await read<{ status: string }>(service, `/runs/${run}`)).toMatchObject({ status: 'running' });
  expect(residentBytes(service)).toBeLessThan(500 * MIB);
  expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  health.stop();
});

test('a start with less memory ends the runs whose lists it has no room for, and others go on', async () => {
  const config = configure('less');
  service = await startService('api-server', config, { nodeFlags: [LARGE] });
  await alert(service, 'top');
  const before = await allBegan();
  await service.kill();
  service = await startService('api-server', config, { nodeFlags: [SMALL] });
  await completes('After');
  const some = async () => (await total('/approvals?status=pending&limit=1')) < before / 2;
  await waitFor(some, { what: 'the end of sub-runs', timeoutMs: 60_000 });
  expect(await allBegan()).toBeGreaterThan(0);
});
