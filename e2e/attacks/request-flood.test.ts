import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';
import { residentBytes } from './resident-bytes.ts';

const scratch = scratchDirectory('request-flood-');
const HOOK = 'hook-token-of-the-test';
let services: Service[] = [];
beforeAll(async () => {
  const write = (name: string, config: object) => {
    const path = join(scratch.path, name);
    writeFileSync(path, JSON.stringify({ server: { host: '127.0.0.1', port: 0 }, ...config }));
    return path;
  };
  const tokens = [
    { name: 'viewer', token: 'viewer-of-the-test', role: 'viewer' },
    { name: 'hook', token: HOOK, role: 'webhook' },
  ];
  services = await Promise.all([
    startService('gateway', write('gateway.yaml', { identity_dir: 'identity' })),
    startService('api-server', write('api-server.yaml', { database: { url: 'sqlite:flood.db' }, auth: { tokens } })),
  ]);
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  scratch.remove();
});

const megabytes = (service: Service): number => residentBytes(service) / 1024 ** 2;

/** What clients without a token send. */
const FLOODS: [string, string][] = [
  ['requests without waiting for answers', 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100_000)],
  ['requests that expect what no server knows', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n'.repeat(100_000)],
  [
    'bodies of single bytes',
    `POST /webhook HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(500_000)}`,
  ],
];

/** Resolves when the client is cut off. */
function flood({ url }: Service, text: string): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => void socket.write(text));
    socket.resume().on('error', () => undefined);
    socket.once('close', () => resolve());
  });
}

test.each(FLOODS)('who sends %s is cut off, and neither time nor memory is lost', async (_what, text) => {
  for (const service of services) {
    const before = megabytes(service);
    const health = probeHealth(service.url);
    await Promise.all(Array.from({ length: 10 }, () => flood(service, text)));
    expect(megabytes(service) - before).toBeLessThan(256);
    expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
    health.stop();
  }
});

/** Ten milliseconds of work and more, for a delivery that fits nothing. */
const KEYS = JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, 1])));

/** Resolves to the status of the answer. */
function deliver({ url }: Service, body: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const head = [
    'POST /webhook?source=generic HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${HOOK}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => void socket.write(`${head.join('\r\n')}\r\n\r\n${body}`));
    socket.once('error', reject);
    socket.once('data', (data) => {
      resolve(data.toString().slice(9, 12));
      socket.destroy();
    });
  });
}

test('300 clients that deliver large bodies in one moment hold nobody up', async () => {
  const [, apiServer] = services as [Service, Service];
  const health = probeHealth(apiServer.url);
  const statuses = await Promise.all(Array.from({ length: 300 }, () => deliver(apiServer, KEYS)));
  expect(statuses).toContain('400');
  expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  health.stop();
});
