import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what Linux gives to outgoing connections and to servers on port 0, so that nobody is given it meanwhile. */
const PORTS = { first: 20_000, count: 12_000 };

/** A TCP port of 127.0.0.1 that is free, for programs that cannot take port 0. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + randomInt(PORTS.count);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
