import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { tokenOf } from './tenant-site.ts';

const scratch = scratchDirectory('call-bytes-');
let gateway: Service;

function agent(name: string, script: string): void {
  const directory = join(scratch.path, 'agents', name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'agent.yaml'), JSON.stringify({ name, model: 'demo/script' }));
  writeFileSync(join(directory, 'soul.md'), `Answer.\n\n\`\`\`demo\n${script}\n\`\`\`\n`);
}

beforeAll(async () => {
  agent('slow', 'delay_ms: 60000');
  agent('quick', 'answer: {confidence: 1, summary: done}');
  const config = join(scratch.path, 'gateway.yaml');
  const settings = {
    server: { port: 0 },
    limits: { max_concurrent_runs: 1000 },
    agents_dir: 'agents',
    providers: { demo: { type: 'demo' } },
  };
  writeFileSync(config, JSON.stringify(settings));
  const tokens = Object.fromEntries(
    ['admin', 'invoke', 'approve'].map((role) => [`GATEWAY_${role.toUpperCase()}_TOKEN`, tokenOf(role)]),
  );
  gateway = await startService('gateway', config, { env: tokens, nodeFlags: ['--max-old-space-size=256'] });
});
afterAll(async () => {
  await gateway.stop(1_000);
  scratch.remove();
});

interface Answer {
  id?: number;
  result?: object;
  error?: { message: string };
}

/** Calls on one connection, as the api-server makes them. */
async function connect(token: string) {
  const headers = { authorization: `Bearer ${tokenOf(token)}` };
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/rpc`, { headers });
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.on('message', (data: Buffer) => {
    const answer = JSON.parse(data.toString()) as Answer;
    waiting.get(answer.id ?? 0)?.(answer);
  });
  await once(socket, 'open');
  let last = 0;
  const ask = (method: string, params: object) => {
    const id = (last += 1);
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return new Promise<Answer>((resolve) => waiting.set(id, resolve));
  };
  const run = (namespace: string, name: string, input: string) =>
    ask('agent.run', { agent: name, input, metadata: { namespace } });
  return { ask, run, close: () => socket.terminate() };
}

test('long calls of one namespace, and of another token, keep nobody else from a request', async () => {
  const [apiServer, program] = await Promise.all([connect('approve'), connect('invoke')]);
  const long = 'x'.repeat(1_000_000);
  for (const client of [program, apiServer]) {
    const refused = Array.from({ length: 30 }, () => client.run('shop', 'slow', long));
    expect((await Promise.race(refused)).error?.message).toContain('too many bytes');
    expect(await client.ask('ping', {})).toHaveProperty('result');
    expect(await client.ask('agents.list', {})).toHaveProperty('result');
  }
  expect(await apiServer.run('pay', 'quick', long)).toHaveProperty('result');
  for (const client of [apiServer, program]) client.close();
});
