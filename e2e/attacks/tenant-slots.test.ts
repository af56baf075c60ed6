import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

const ANSWER = 'answer: {confidence: 0.9, summary: done}';
const CALL_MS = 20_000;
const scratch = scratchDirectory('tenant-slots-');
const tokenOf = (name: string) => `token-of-${name}-for-the-test`;
let gateway: Service;
let service: Service;

function write(file: string, content: object | string): string {
  const path = join(scratch.path, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const agentOf = (name: string, delayMs: number) => {
  write(`agents/${name}/agent.yaml`, { name, model: 'demo/script' });
  write(`agents/${name}/soul.md`, `Answer.\n\n\`\`\`demo\n${ANSWER}\ndelay_ms: ${delayMs}\n\`\`\`\n`);
};

/** A pipeline of the namespace of its name. */
function define(name: string, step: object) {
  const pipeline = { name, stage: 'production', trigger: { match: { 'labels.namespace': name } }, steps: [step] };
  write(`managed/pipelines/${name}.yaml`, pipeline);
  return { kind: 'Pipeline', namespace: name, name, uid: name, generation: 1, hash: '' };
}

const ASK = { executor: 'gateway', prompt_template: 'Look', timeout_seconds: 600 };

beforeAll(async () => {
  agentOf('slow', CALL_MS);
  agentOf('quick', 0);
  const limits = { max_concurrent_runs: 4, max_queued_runs: 12 };
  const tokens = Object.fromEntries(
    ['admin', 'invoke', 'approve'].map((role) => [`GATEWAY_${role.toUpperCase()}_TOKEN`, tokenOf(role)]),
  );
  const settings = { server: { port: 0 }, limits, agents_dir: 'agents', providers: { demo: { type: 'demo' } } };
  gateway = await startService('gateway', write('gateway.yaml', settings), { env: tokens });
  const many = { over: JSON.stringify(Array.from({ length: 50 }, (_, at) => at)), max_items: 50, max_parallel: 50 };
  const files = {
    'pipelines/shop.yaml': define('shop', { name: 'all', fan_out: { ...many, step: { ...ASK, agent: 'slow' } } }),
    'pipelines/pay.yaml': define('pay', { ...ASK, name: 'look', agent: 'quick' }),
  };
  write('managed/manifest.json', { namespace: 'ops', files, objects: [], agents: {} });
  const config = write('config.yaml', {
    server: { host: '127.0.0.1', port: 0 },
    managed_dir: 'managed',
    database: { url: 'sqlite:slots.db' },
    tenancy: { namespaces: { shop: { max_runs: 1 }, pay: {} } },
    executors: { gateway: { url: `${gateway.url.replace('http', 'ws')}/rpc`, token: tokenOf('approve') } },
    auth: { tokens: ['webhook', 'viewer'].map((role) => ({ name: role, token: tokenOf(role), role })) },
  });
  service = await startService('api-server', config);
});
afterAll(async () => {
  await service.stop(1_000);
  await gateway.stop(1_000);
  scratch.remove();
});

async function alert(namespace: string): Promise<string> {
  const alerts = [{ status: 'firing', labels: { alertname: 'Busy', namespace }, annotations: {} }];
  const sent = { token: tokenOf('webhook'), body: { alerts } };
  return (await call<{ run_id: string }>(`${service.url}/webhook?source=alert_router`, sent)).body.run_id;
}
const statusOf = async (run: string) =>
  (await call<{ status: string }>(`${service.url}/runs/${run}`, { token: tokenOf('viewer') })).body.status;
const queued = async () =>
  Number(/^gateway_queued_runs (\d+)/m.exec((await call<string>(`${gateway.url}/metrics`)).body)?.[1]);

test('one run of a namespace with many branches takes neither all slots of the gateway nor all places of its queue', async () => {
  await alert('shop');
  await waitFor(async () => (await queued()) >= 9, { what: 'the branches to wait' });
  const began = performance.now();
  const other = await alert('pay');
  await waitFor(async () => (await statusOf(other)) !== 'running', { what: 'the run of the other namespace' });
  expect(await statusOf(other)).toBe('completed');
  expect(performance.now() - began).toBeLessThan(CALL_MS);
});
