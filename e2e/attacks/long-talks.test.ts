import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';

const TOKEN = 'approve-token-of-the-test';
const RUNS = 60;
/** What Node takes in a container of 1 GiB. */
const HEAP = '--max-old-space-size=512';
const scratch = scratchDirectory('long-talks-');
let gateway: Service;

function agent(name: string, script: string): void {
  const directory = join(scratch.path, 'agents', name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'agent.yaml'), JSON.stringify({ name, model: 'demo/script', tools: ['talkative'] }));
  writeFileSync(join(directory, 'soul.md'), `Talk.\n\n\`\`\`demo\nanswer: {confidence: 1}\n${script}\n\`\`\`\n`);
}
const callsOf = (...tools: string[]) =>
  `calls: [${tools.map((tool) => `{tool: talkative/${tool}, input: ${tool === 'note' ? '{of: {$value: results.0.list}}' : '{}'}}`).join()}]`;

beforeEach(async () => {
  agent('objects', callsOf('list', ...Array.from({ length: 7 }, () => 'note'), 'ask'));
  agent('large', callsOf(...Array.from({ length: 12 }, () => 'tell'), 'ask'));
  agent('small', callsOf('ask'));
  const config = join(scratch.path, 'gateway.yaml');
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    identity_dir: 'identity',
    agents_dir: 'agents',
    providers: { demo: { type: 'demo' } },
    limits: { tool_result_max_chars: 1_000_000 },
    mcp_servers: { talkative: { command: process.execPath, args: [join(import.meta.dirname, 'talkative-server.ts')] } },
    tool_policy: { default: 'allow', rules: [{ require_approval: { tool: 'ask' } }] },
  };
  writeFileSync(config, JSON.stringify(settings));
  const env = {
    GATEWAY_ADMIN_TOKEN: 'admin-token-of-the-test',
    GATEWAY_INVOKE_TOKEN: 'invoke',
    GATEWAY_APPROVE_TOKEN: TOKEN,
  };
  gateway = await startService('gateway', config, { env, nodeFlags: [HEAP] });
});
afterEach(() => gateway.stop(1_000));
afterAll(() => scratch.remove());

const gauge = async (name: string) =>
  Number(new RegExp(`^gateway_${name} (\\d+)`, 'm').exec((await call<string>(`${gateway.url}/metrics`)).body)?.[1]);

test.each([
  ['long talks', 'large'],
  ['calls full of small objects', 'objects'],
])(
  'runs of one namespace that hold %s while they wait for people end neither the gateway nor a run of another',
  async (_, name) => {
    const health = probeHealth(gateway.url);
    const ended: { id: string; error?: { message: string } }[] = [];
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/rpc`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    await once(socket, 'open');
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as { id?: string; method?: string };
      if (message.method === undefined) ended.push(message as (typeof ended)[number]);
    });
    const run = (agent: string, namespace: string, id: string) => {
      const params = { agent, input: namespace, metadata: { namespace, pipeline: namespace } };
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'agent.run', params }));
    };
    run('small', 'pay', 'small');
    for (let nth = 0; nth < RUNS; nth += 1) run(name, 'shop', `${name} ${nth}`);
    const settled = async () => (await gauge('waiting_approvals')) + ended.length === RUNS + 1;
    await waitFor(settled, { what: 'all runs to wait or to be ended', timeoutMs: 60_000 });
    expect(ended.length).toBeGreaterThan(0);
    expect(ended.filter(({ id }) => id === 'small')).toEqual([]);
    expect(ended[0]?.error?.message).toContain('the run held the most');
    expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
    socket.terminate();
    health.stop();
  },
);
