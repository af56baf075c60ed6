import { once } from 'node:events';
import { fairServer } from '@signalbox/crds/process/fair-connections';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { RpcServer, type RpcServerDeps } from '../rpc/rpc-server.ts';
import { RpcClient } from './rpc-client.ts';

/** `/rpc` alone, with methods of the test. */
export async function startTestRpc(deps: Pick<RpcServerDeps, 'call'> & Partial<RpcServerDeps>) {
  const rpc = new RpcServer({
    authenticate: (token) => ({ ok: true, token: token === 'approve' ? 'approve' : 'invoke', approves: 'own' }),
    allowedOrigins: [],
    maxFrameBytes: 1024 * 1024,
    maxFrameValues: 50_000,
    onGone: () => {},
    onAuthFailure: () => {},
    onBug: () => {},
    ...deps,
  });
  const server = fairServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  rpc.attach(server);
  onTestFinished(async () => {
    await rpc.close();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { rpc, connect: (token = 'invoke') => RpcClient.connect(url, { authorization: token }) };
}
