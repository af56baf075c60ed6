import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';

const TOKEN = 'invoke-token-of-the-test';
const scratch = scratchDirectory('rpc-flood-');
let gateway: Service;
beforeAll(async () => {
  const config = join(scratch.path, 'gateway.yaml');
  writeFileSync(config, JSON.stringify({ server: { host: '127.0.0.1', port: 0 }, identity_dir: 'identity' }));
  gateway = await startService('gateway', config, {
    env: { GATEWAY_ADMIN_TOKEN: 'admin-token-of-the-test', GATEWAY_INVOKE_TOKEN: TOKEN },
  });
});
afterAll(async () => {
  await gateway.stop();
  scratch.remove();
});

const FRAMES = 10_000;

/** Sends all frames without waiting; resolves when all are answered. */
function flood(frame: string): Promise<void> {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/rpc`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  return new Promise((resolve, reject) => {
    let answers = 0;
    socket.on('error', reject).on('close', () => reject(new Error('cut off')));
    socket.on('open', () => {
      for (let count = 0; count < FRAMES; count++) socket.send(frame);
    });
    socket.on('message', () => {
      answers += 1;
      if (answers < FRAMES) return;
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
