import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { alert, configureTenants, read, tokenOf } from './tenant-site.ts';

const ANSWER = 'answer: {confidence: 0.9, summary: done}';
const CALL_MS = 20_000;
const scratch = scratchDirectory('tenant-slots-');
let gateway: Service;
let service: Service;

function write(file: string, content: object | string): string {
  const path = join(scratch.path, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const agentOf = (name: string, script: string, more: object = {}) => {
  write(`agents/${name}/agent.yaml`, { name, model: 'demo/script', ...more });
  write(`agents/${name}/soul.md`, `Answer.\n\n\`\`\`demo\n${ANSWER}\n${script}\n\`\`\`\n`);
};

const ASK = { executor: 'gateway', prompt_template: 'Look', timeout_seconds: 600 };

beforeAll(async () => {
  agentOf('slow', `delay_ms: ${CALL_MS}`);
  agentOf('quick', 'delay_ms: 0');
  agentOf('asker', 'calls: [{tool: prying/pry, input: {}}]', { tools: ['prying'] });
  const limits = { max_concurrent_runs: 4, max_queued_runs: 12, max_waiting_approvals: 4 };
  const tokens = Object.fromEntries(
    ['admin', 'invoke', 'approve'].map((role) => [`GATEWAY_${role.toUpperCase()}_TOKEN`, tokenOf(role)]),
  );
  const server = { command: process.execPath, args: [join(import.meta.dirname, 'prying-server.ts')] };
  const settings = {
    server: { port: 0 },
    limits,
    agents_dir: 'agents',
    providers: { demo: { type: 'demo' } },
    mcp_servers: { prying: server },
    tool_policy: { default: 'deny', rules: [{ require_approval: { server: 'prying' } }] },
  };
  gateway = await startService('gateway', write('gateway.yaml', settings), { env: tokens });
  const many = { over: JSON.stringify(Array.from({ length: 50 }, (_, at) => at)), max_items: 50, max_parallel: 50 };
  const all = (agent: string) => ({ name: 'all', fan_out: { ...many, step: { ...ASK, agent } } });
  const steps = {
    shop: all('slow'),
    pay: { ...ASK, name: 'look', agent: 'quick' },
    ask: all('asker'),
    once: { ...ASK, name: 'look', agent: 'asker' },
  };
  const config = configureTenants(scratch.path, {
    pipelines: Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, { [name]: { steps: [step] } }])),
    namespaces: { shop: { max_runs: 1 }, pay: {}, ask: { max_runs: 1 }, once: {} },
    more: { executors: { gateway: { url: `${gateway.url.replace('http', 'ws')}/rpc`, token: tokenOf('approve') } } },
  });
  service = await startService('api-server', config);
});
afterAll(async () => {
  await service.stop(1_000);
  await gateway.stop(1_000);
  scratch.remove();
});

const start = async (namespace: string) => (await alert(service, namespace)).run;
const statusOf = async (run: string) => (await read<{ status: string }>(service, `/runs/${run}`)).status;
const gauge = async (name: string) =>
  Number(new RegExp(`^gateway_${name} (\\d+)`, 'm').exec((await call<string>(`${gateway.url}/metrics`)).body)?.[1]);

test('one run of a namespace with many branches takes neither all slots of the gateway nor all places of its queue', async () => {
  const run = await start('shop');
  await waitFor(async () => (await gauge('queued_runs')) >= 9, { what: 'the branches to wait' });
  const began = performance.now();
  const other = await start('pay');
  await waitFor(async () => (await statusOf(other)) !== 'running', { what: 'the run of the other namespace' });
  expect(await statusOf(other)).toBe('completed');
  expect(performance.now() - began).toBeLessThan(CALL_MS);
  await call(`${service.url}/runs/${run}/cancel`, { token: tokenOf('operator'), method: 'POST' });
});

test('one run of a namespace whose branches all ask for approval does not make the approvals of others take slots', async () => {
  await waitFor(async () => (await gauge('active_runs')) === 0, { what: 'the end of the other runs' });
  await start('ask');
  // Three wait without a slot, three more keep theirs.
  await waitFor(async () => (await gauge('waiting_approvals')) >= 6, { what: 'the questions' });
  await start('once');
  await waitFor(async () => (await gauge('waiting_approvals')) >= 7, { what: 'the question of the other namespace' });
  const other = await start('pay');
  await waitFor(async () => (await statusOf(other)) === 'completed', {
    what: 'the run of a third namespace',
    timeoutMs: 30_000,
  });
});
