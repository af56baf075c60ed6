import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { call } from '../support/call.ts';
import { type Service, startService } from '../support/start-service.ts';
import { residentBytes } from './resident-bytes.ts';
import { configureTenants, tokenOf } from './tenant-site.ts';

const MIB = 1024 * 1024;
const ask = { name: 'ask', executor: 'human', prompt_template: 'Go on?', timeout_seconds: 86_400 };
const scratch = scratchDirectory('tenant-memory-');
let service: Service;
beforeAll(async () => {
  const directory = join(scratch.path, 'site');
  mkdirSync(directory);
  const config = configureTenants(directory, {
    pipelines: { shop: { waits: { steps: [ask] } }, pay: { also: { steps: [ask] } } },
    namespaces: { shop: {}, pay: {} },
    more: { concurrency: { max_runs: 1000 } },
  });
  // What Node takes where the chart's limit of 1 GiB holds.
  service = await startService('api-server', config, { nodeFlags: ['--max-old-space-size=512'] });
});
afterAll(async () => {
  await service?.stop(1_000);
  scratch.remove();
});

const LARGE = 'x'.repeat(900_000);
async function deliver(starts: string, key: string): Promise<number> {
  const body = { pipeline: starts, idempotency_key: key, labels: { starts }, data: { large: LARGE } };
  return (await call(`${service.url}/webhook?source=generic`, { token: tokenOf('webhook'), body })).status;
}

test('where the waiting runs of a namespace hold what it may, its alerts are refused and those of another are not', async () => {
  let status = 202;
  for (let taken = 0; status === 202 && taken < 300; taken++) status = await deliver('waits', `a${taken}`);
  expect(status).toBe(429);
  for (let more = 0; more < 10; more++) expect(await deliver('also', `b${more}`)).toBe(202);
  expect(residentBytes(service)).toBeLessThan(1024 * MIB);
});
