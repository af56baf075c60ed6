import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A relay in front of an address whose connections can be cut, and that can refuse new ones. */
export async function startTcpRelay(address: string) {
  const [host = '', port = ''] = address.split(':');
  const sockets = new Set<Socket>();
  let refusing = false;
  const server = createServer((near) => {
    if (refusing) return near.destroy();
    const far = connect(Number(port), host);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => sockets.size / 2,
    cut,
    refuse: (on: boolean) => {
      refusing = on;
    },
    close: () => {
      cut();
      server.close();
    },
  };
}
