import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { alert, configureTenants, read } from './tenant-site.ts';

const scratch = scratchDirectory('run-ends-service-');
let service: Service;
/** Called by the run that ends the service each time that it goes on. */
let calls = 0;
const backend = createServer(() => {
  calls++;
  void service.kill();
});
afterAll(async () => {
  await service?.stop(1_000);
  backend.close();
  scratch.remove();
});

const statusOf = (run: string) => read<{ status: string; error: { message: string } | null }>(service, `/runs/${run}`);

test('a run that ends the service each time it goes on fails after five restarts, and others go on', async () => {
  await once(backend.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}/`;
  const directory = join(scratch.path, 'site');
  mkdirSync(directory);
  const config = configureTenants(directory, {
    pipelines: {
      shop: {
        ends: { steps: [{ name: 'call', executor: 'webhook', url }] },
        asks: { steps: [{ name: 'ask', executor: 'human', prompt_template: 'Go on?', timeout_seconds: 3_600 }] },
      },
    },
    namespaces: { shop: { egress_allow: ['127.0.0.1/32'] } },
  });
  service = await startService('api-server', config);
  const { run: waiting } = await alert(service, 'asks');
  const { run } = await alert(service, 'ends');
  for (let starts = 1; starts <= 6; starts++) {
    await waitFor(() => calls === starts, { what: `call ${starts}` });
    await service.kill();
    service = await startService('api-server', config);
  }
  await waitFor(async () => (await statusOf(run)).status === 'failed', { what: 'the run to fail' });
  expect((await statusOf(run)).error?.message).toContain('restarted more than 5 times within an hour');
  expect([calls, (await statusOf(waiting)).status]).toEqual([6, 'running']);
});
