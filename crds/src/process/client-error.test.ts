import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { clientErrorHandler } from './client-error.ts';

test('a client that was refused and leaves its side open holds no socket', async () => {
  const server = createServer().on('clientError', clientErrorHandler());
  const connected = once(server, 'connection') as Promise<[Socket]>;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
  client.write('no request\r\n\r\n');
  const [socket] = await connected;
  const closed = once(socket, 'close');
  const [answer] = (await once(client, 'data')) as [Buffer];
  expect(String(answer)).toContain('400 Bad Request');
  await closed;
  client.destroy();
  server.close();
});
