import { createServer } from 'node:net';
import { fastify } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from './listen.ts';

const app = () => {
  const made = fastify();
  onTestFinished(() => made.close());
  return made;
};

test('a port that is taken is named with its key', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await expect(listen(app(), { host: '127.0.0.1', port })).rejects.toThrow(
    `server.port: 127.0.0.1:${port} is taken by another process`,
  );
});

test('an address of another machine is named with its key', async () => {
  await expect(listen(app(), { host: '192.0.2.1', port: 0 })).rejects.toThrow(
    'server.host: 192.0.2.1 is not an address of this machine',
  );
});

test('an address that is free is opened', async () => {
  expect(await listen(app(), { host: '127.0.0.1', port: 0 })).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});
