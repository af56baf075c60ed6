import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { configureTenants, tokenOf } from './tenant-site.ts';

const step = { executor: 'human', prompt_template: 'Go on?', timeout_seconds: 86_400 };
const ask = { name: 'ask', ...step };
const each = { name: 'each', fan_out: { over: 'metadata.list', max_items: 50, max_parallel: 50, step } };
const nodeFlags = ['--max-old-space-size=112', '--max-semi-space-size=4'];
const scratch = scratchDirectory('tenant-branches-');
let config: string;
let service: Service;
beforeAll(async () => {
  const directory = join(scratch.path, 'site');
  mkdirSync(directory);
  config = configureTenants(directory, {
    pipelines: { shop: { waits: { steps: [each] } }, pay: { also: { steps: [ask] } } },
    namespaces: { shop: {}, pay: {} },
    more: { concurrency: { max_runs: 1000 } },
  });
  service = await startService('api-server', config, { nodeFlags });
});
afterAll(async () => {
  await service?.stop(1_000);
  scratch.remove();
});

async function deliver(starts: string, key: string): Promise<number> {
  const data = { list: Array.from({ length: 50 }, () => 1) };
  const body = { pipeline: starts, idempotency_key: key, labels: { starts }, data };
  return (await call(`${service.url}/webhook?source=generic`, { token: tokenOf('webhook'), body })).status;
}

const total = async (path: string) =>
  (await call<{ total: number }>(`${service.url}${path}&limit=1`, { token: tokenOf('viewer') })).body.total;
const going = () => total('/runs?status=running');
const questions = () => total('/approvals?status=pending');

/** How many alerts are taken before one is refused. */
async function takenOf(starts: string, key: string, most: number): Promise<number> {
  for (let taken = 0; taken < most; taken++) {
    const status = await deliver(starts, `${key}${taken}`);
    if (status !== 202) {
      expect(status).toBe(429);
      return taken;
    }
  }
  return most;
}

test('where questions in branches of a namespace hold what it may, its alerts are refused, after a restart too, and those of another are not', async () => {
  const taken = await takenOf('waits', 'a', 200);
  expect(taken).toBeLessThan(100);
  expect(await takenOf('also', 'b', 5)).toBe(5);
  await waitFor(async () => (await questions()) > 40 * taken, { what: 'the questions', timeoutMs: 60_000 });
  const [runs, asked] = [await going(), await questions()];
  await service.kill();
  service = await startService('api-server', config, { nodeFlags });
  await waitFor(async () => (await going()) === runs, { what: 'all runs to go on', timeoutMs: 60_000 });
  expect(await questions()).toBe(asked);
  expect(await takenOf('waits', 'c', 10)).toBeLessThan(5);
  expect(await takenOf('also', 'd', 5)).toBe(5);
});
