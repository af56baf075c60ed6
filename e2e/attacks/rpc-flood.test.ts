import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';

const TOKEN = 'invoke-token-of-the-test';
const scratch = scratchDirectory('rpc-flood-');
/** A container with half a GiB. */
const HEAP = '--max-old-space-size=256';
let gateway: Service;

function agent(name: string, script: string): void {
  const directory = join(scratch.path, 'agents', name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'agent.yaml'), JSON.stringify({ name, model: 'demo/script' }));
  writeFileSync(join(directory, 'soul.md'), `Repeat.\n\n\`\`\`demo\n${script}\n\`\`\`\n`);
}

beforeAll(async () => {
  const config = join(scratch.path, 'gateway.yaml');
  agent('echo', 'answer: {confidence: 1, summary: "{{input}}{{input}}"}');
  agent('slow', 'delay_ms: 60000');
  agent('late', 'delay_ms: 4000\nanswer: {confidence: 1, summary: "{{input}}"}');
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    identity_dir: 'identity',
    agents_dir: 'agents',
    providers: { demo: { type: 'demo' } },
  };
  writeFileSync(config, JSON.stringify(settings));
  gateway = await startService('gateway', config, {
    env: { GATEWAY_ADMIN_TOKEN: 'admin-token-of-the-test', GATEWAY_INVOKE_TOKEN: TOKEN },
    nodeFlags: [HEAP],
  });
});
afterAll(async () => {
  await gateway.stop(1_000);
  scratch.remove();
});

const FRAMES = 10_000;

const connect = () =>
  new WebSocket(`${gateway.url.replace('http', 'ws')}/rpc`, { headers: { authorization: `Bearer ${TOKEN}` } });

/** Sends all frames without waiting; resolves when all are answered. */
function flood(frame: string, frames = FRAMES): Promise<void> {
  const socket = connect();
  return new Promise((resolve, reject) => {
    let answers = 0;
    socket.on('error', reject).on('close', () => reject(new Error('cut off')));
    socket.on('open', () => {
      for (let count = 0; count < frames; count++) socket.send(frame);
    });
    socket.on('message', (data: Buffer) => {
      if (data.includes('"agent.event"')) return;
      answers += 1;
      if (answers < frames) return;
      socket.removeAllListeners('close').terminate();
      resolve();
    });
  });
}

test.each([
  ['requests', '{"jsonrpc":"2.0","id":1,"method":"ping"}'],
  ['what is no JSON', 'x'],
])('clients that send %s without a pause are answered, and nobody waits long for them', async (_what, frame) => {
  const health = probeHealth(gateway.url);
  await Promise.all(Array.from({ length: 40 }, () => flood(frame)));
  expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  health.stop();
});

const rpc = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

test('clients that ask again and again for an answer that takes long to encode hold up their own answers only', async () => {
  await flood(rpc('agent.run', { agent: 'echo', input: 'x'.repeat(800_000), idempotency_key: 'long' }), 1);
  const health = probeHealth(gateway.url);
  const attach = rpc('agent.attach', { idempotency_key: 'long' });
  await Promise.all(Array.from({ length: 8 }, () => flood(attach, 100)));
  expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  health.stop();
});

test('a client that repeats a request which waits for its run ends no gateway', async () => {
  const health = probeHealth(gateway.url);
  const socket = connect();
  const closed = new Promise((resolve) => socket.once('close', resolve).on('error', resolve));
  const pong = once(socket, 'pong');
  await once(socket, 'open');
  const long = rpc('agent.run', { agent: 'slow', input: `${'x'.repeat(1_000_000)}€`, idempotency_key: 'again' });
  for (let count = 0; count < 140; count++) socket.send(long);
  socket.ping();
  expect(await Promise.race([closed, pong])).toEqual([Buffer.alloc(0)]);
  expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  socket.terminate();
  health.stop();
});

/** Starts a run of an agent that takes its time, and follows it on all these connections; resolves when it has ended. */
async function followOne(input: string, followers: number, times: number): Promise<void> {
  const key = { idempotency_key: `${followers} followers` };
  const first = connect();
  await once(first, 'open');
  const ended = new Promise((resolve, reject) => {
    first.on('close', () => reject(new Error('cut off')));
    first.on('message', (data: Buffer) => data.includes('"id":1') && resolve(null));
  });
  first.send(rpc('agent.run', { agent: 'late', input, trace: { stream: true }, ...key }));
  const sockets = Array.from({ length: followers }, connect);
  for (const socket of sockets) {
    socket.on('error', () => {});
    socket.on('open', () => {
      for (let count = 0; count < times; count++) socket.send(rpc('agent.attach', key));
    });
  }
  await ended;
  for (const socket of [first, ...sockets]) socket.removeAllListeners('close').terminate();
}

test.each([
  ['a run with a long answer again and again', 'x'.repeat(150_000), 5, 999],
  ['together a run that says much', '\n'.repeat(250_000), 300, 1],
])('clients that follow %s hold up nobody else at its end', async (_what, input, followers, times) => {
  const health = probeHealth(gateway.url);
  await followOne(input, followers, times);
  expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  health.stop();
});
