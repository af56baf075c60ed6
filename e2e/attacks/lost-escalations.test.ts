import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KINDS } from '../faults/databases.ts';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { type AttackedDatabase, attackedDatabase } from './attacked-database.ts';

describe.each(KINDS)('on %s, escalations', (kind) => {
  /** A chat that answers 503 while it is away. */
  const chat = { away: true, tries: 0, received: [] as string[] };
  const other: string[] = [];

  async function serve(answer: (body: string) => number): Promise<Server> {
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => (text += String(chunk)));
      request.on('end', () => response.writeHead(answer(text)).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  }
  const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  const scratch = scratchDirectory('lost-escalations-');
  const config = join(scratch.path, 'config.yaml');
  const servers: Server[] = [];
  let service: Service;
  let database: AttackedDatabase;
  let settings: Record<string, unknown>;

  beforeAll(async () => {
    const first = await serve((body) => {
      chat.tries += 1;
      if (chat.away) return 503;
      chat.received.push(body);
      return 200;
    });
    const second = await serve((body) => (other.push(body), 200));
    servers.push(first, second);
    mkdirSync(join(scratch.path, 'pipelines'));
    const pipeline = {
      name: 'failing',
      stage: 'production',
      notifications: { fail: [{ channel: 'webhook' }] },
      steps: [{ name: 'call', executor: 'webhook', url: 'http://127.0.0.1:1/', timeout_seconds: 5 }],
    };
    writeFileSync(join(scratch.path, 'pipelines', 'failing.yaml'), JSON.stringify(pipeline));
    database = await attackedDatabase(kind, scratch.path);
    settings = {
      server: { host: '127.0.0.1', port: 0 },
      pipeline_config_dir: 'pipelines',
      database: { url: database.url },
      auth: { tokens: [{ name: 'op', token: 'operator-of-the-test', role: 'operator' }] },
    };
    await start({ webhook: { url: addressOf(first) } });
  });
  afterAll(async () => {
    await service.stop();
    for (const server of servers) server.close();
    await database.remove();
    scratch.remove();
  });

  async function start(notifications: object): Promise<void> {
    writeFileSync(config, JSON.stringify({ ...settings, notifications }));
    service = await startService('api-server', config);
  }

  interface Line {
    id: string;
    channel: string;
    status: string;
    error: string | null;
  }
  const ask = async <T>(path: string, body?: object) =>
    (await call<T>(`${service.url}${path}`, { token: 'operator-of-the-test', ...(body && { body }) })).body;
  const messagesOf = async (run: string) => (await ask<{ notifications: Line[] }>(`/runs/${run}`)).notifications;
  const fail = async () => (await ask<{ run_id: string }>('/pipelines/failing/run', {})).run_id;
  const warnings = async () => (await ask<{ status: string; warnings: string[] }>('/health')).warnings;

  test('a chat that is away gets the message when it is back, around a kill, and the wait is seen', async () => {
    const run = await fail();
    await waitFor(() => chat.tries >= 1, { what: 'the first try' });
    await waitFor(async () => (await warnings()).length === 1, { what: 'the warning' });
    expect((await ask<{ status: string }>('/health')).status).toBe('ok');
    expect((await messagesOf(run))[0]).toMatchObject({ status: 'pending', error: 'webhook: answered 503' });
    await service.kill();
    await start({ webhook: { url: addressOf(servers[0] as Server) } });
    await waitFor(() => chat.tries >= 3, { what: 'a try of the next process' });
    chat.away = false;
    await waitFor(() => chat.received.length === 1, { what: 'the message' });
    await waitFor(async () => (await messagesOf(run))[0]?.status === 'sent', { what: 'its end' });
    expect(JSON.parse(chat.received[0] ?? '{}')).toMatchObject({ id: `${run}/fail/0`, event: 'fail' });
    await waitFor(async () => (await warnings()).length === 0, { what: 'the end of the warning' });
  });

  test('what a chat never takes goes to the fallback, and can be sent again', async () => {
    await service.stop();
    chat.away = true;
    const [first, second] = servers as [Server, Server];
    const fallback = { channel: 'webhook', config: { url: addressOf(second) } };
    await start({ webhook: { url: addressOf(first) }, give_up_after_seconds: 1, fallback });
    const run = await fail();
    await waitFor(() => other.length === 1, { what: 'the message of the fallback' });
    await waitFor(async () => (await messagesOf(run)).every(({ status }) => status !== 'pending'), {
      what: 'the ends',
    });
    const messages = await messagesOf(run);
    expect(messages.map(({ status }) => status).toSorted()).toEqual(['forwarded', 'sent']);
    chat.away = false;
    const given = messages.find(({ status }) => status === 'forwarded')?.id ?? '';
    await ask(`/notifications/${encodeURIComponent(given)}/resend`, {});
    await waitFor(() => chat.received.length === 2, { what: 'the message that was sent again' });
  });

  test('a tenant whose receivers take long to answer, and have many messages, delays no message to the operator’s chat', async () => {
    await service.stop();
    chat.away = false;
    const slow = { open: 0, most: 0 };
    const server = createServer((_, response) => {
      slow.open += 1;
      slow.most = Math.max(slow.most, slow.open);
      response.on('close', () => (slow.open -= 1));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    servers.push(server);
    const step = { name: 'call', executor: 'webhook', url: addressOf(servers[1] as Server), timeout_seconds: 5 };
    const complete = Array.from({ length: 8 }, () => ({ channel: 'webhook', config: { url: addressOf(server) } }));
    const files = ['shop-a', 'shop-b'].map((name) => {
      const pipeline = { name, stage: 'production', notifications: { complete }, steps: [step] };
      mkdirSync(join(scratch.path, 'managed/pipelines'), { recursive: true });
      writeFileSync(join(scratch.path, `managed/pipelines/${name}.yaml`), JSON.stringify(pipeline));
      const owner = { kind: 'Pipeline', namespace: 'shop', name, uid: name, generation: 1, hash: '' };
      return [`pipelines/${name}.yaml`, owner];
    });
    const manifest = { namespace: 'ops', files: Object.fromEntries(files), objects: [], agents: {} };
    writeFileSync(join(scratch.path, 'managed/manifest.json'), JSON.stringify(manifest));
    const tenancy = { namespaces: { shop: { egress_allow: ['127.0.0.0/8'] } } };
    settings = { ...settings, managed_dir: 'managed', tenancy };
    await start({ webhook: { url: addressOf(servers[0] as Server) } });
    for (let run = 0; run < 10; run++) await ask(`/pipelines/shop-${run % 2 === 0 ? 'a' : 'b'}/run`, {});
    await waitFor(() => slow.most >= 3, { what: 'the first messages to the slow receiver' });
    const received = chat.received.length;
    await fail();
    await waitFor(() => chat.received.length > received, { what: 'the escalation', timeoutMs: 30_000 });
    expect(slow.most).toBe(3);
    server.closeAllConnections();
  });
});
