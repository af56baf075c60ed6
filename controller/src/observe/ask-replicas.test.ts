import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createAskReplicas } from './ask-replicas.ts';

/** A service that answers like a replica; what it says may be changed. */
async function replica(answer: { pod?: string; status: number }) {
  const server = createServer((_, response) => {
    if (answer.pod !== undefined) response.setHeader('x-signalbox-pod', answer.pod);
    response.writeHead(answer.status).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a replica has the name of its pod, also when it stops answering, and its address where it has no name', async () => {
  const answer = { pod: 'signalbox-api-server-7d9f-x2x', status: 200 };
  const address = await replica(answer);
  const ask = createAskReplicas(null);
  const asked = () =>
    ask({ url: `http://${address}`, path: '/definitions', tokenFile: null, read: (pod: string) => ({ pod }) });
  expect(await asked()).toEqual({ asked: true, replicas: [{ pod: answer.pod }], failed: [] });
  answer.status = 503;
  expect(await asked()).toMatchObject({ replicas: [], failed: [{ pod: answer.pod, message: 'answered 503' }] });
  const nameless = await replica({ status: 200 });
  const odd = await replica({ pod: 'Not A Pod', status: 200 });
  for (const other of [nameless, odd])
    expect(
      await ask({ url: `http://${other}`, path: '/agents', tokenFile: null, read: (pod: string) => ({ pod }) }),
    ).toMatchObject({ replicas: [{ pod: other }] });
});
