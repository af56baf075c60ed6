import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { residentBytes } from './resident-bytes.ts';

const TOKEN = 'invoke-token-of-the-test';
const MIB = 1024 * 1024;
const PIECE = Buffer.alloc(MIB / 2, 'a');
const [HEAD, TAIL] = JSON.stringify({
  id: 'x',
  created: 1,
  model: 'm',
  // A character of two bytes makes the text take twice as much.
  choices: [{ index: 0, message: { role: 'assistant', content: '中TEXT' }, finish_reason: 'stop' }],
}).split('TEXT') as [string, string];

/** What each answer has, and how many of them end in one moment. */
let attack = { pieces: 0, together: 0 };
let held: ServerResponse[] = [];
/** An event of the Responses API with a whole call, which an SDK keeps. */
const CALL = JSON.stringify({
  type: 'response.output_item.done',
  output_index: 0,
  item: {
    type: 'function_call',
    id: 'f',
    call_id: 'c',
    name: 't',
    arguments: `中${'a'.repeat(MIB - 400)}`,
    status: 'completed',
  },
});
const provider = createServer((request, response) => {
  request.resume();
  const { pieces, together } = attack;
  if (request.url?.endsWith('/responses')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let events = 0;
    const tell = () => {
      while (events++ < pieces) if (!response.write(`data: ${CALL}\n\n`)) return void response.once('drain', tell);
      response.end();
    };
    return tell();
  }
  response.writeHead(200, { 'content-type': 'application/json' }).write(HEAD);
  let sent = 0;
  const send = () => {
    while (sent++ < pieces) if (!response.write(PIECE)) return void response.once('drain', send);
    held.push(response);
    if (held.length === together) for (const each of held.splice(0)) each.end(TAIL);
  };
  send();
});

const scratch = scratchDirectory('large-model-answers-');
let gateway: Service;

beforeAll(async () => {
  await once(provider.listen(0, '127.0.0.1'), 'listening');
  for (const [name, of] of [
    ['whole', 'p'],
    ['streamed', 'q'],
  ] as const) {
    mkdirSync(join(scratch.path, 'agents', name), { recursive: true });
    writeFileSync(join(scratch.path, 'agents', name, 'agent.yaml'), `name: ${name}\nmodel: ${of}/m\n`);
    writeFileSync(join(scratch.path, 'agents', name, 'soul.md'), 'Answer.');
  }
  const base_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const settings = {
    server: { port: 0 },
    agents_dir: 'agents',
    providers: {
      p: { type: 'openai_compatible', base_url, default: true },
      q: { type: 'openai', base_url, api_key: 'k' },
    },
  };
  const config = join(scratch.path, 'gateway.yaml');
  writeFileSync(config, JSON.stringify(settings));
  const env = { GATEWAY_ADMIN_TOKEN: 'admin-token-of-the-test', GATEWAY_INVOKE_TOKEN: TOKEN };
  // As Node chooses in the memory that the chart gives.
  gateway = await startService('gateway', config, { env, nodeFlags: ['--max-old-space-size=512'] });
});
afterAll(async () => {
  await gateway?.stop(1_000);
  provider.closeAllConnections();
  provider.close();
  scratch.remove();
});

/** How so many runs that begin together fail. */
async function failuresOf(runs: number, agent: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/rpc`, { headers });
  await once(socket, 'open');
  const failures: string[] = [];
  const all = new Promise<void>((resolve, reject) => {
    socket.on('close', () => reject(new Error('the gateway is gone')));
    socket.on('message', (data) => {
      const { error } = JSON.parse(String(data)) as { error?: { message: string } };
      if (error && failures.push(error.message) === runs) resolve();
    });
  });
  const params = { agent, input: 'Hi.', trace: { stream: agent === 'streamed' } };
  for (let id = 0; id < runs; id++) socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'agent.run', params }));
  await all.finally(() => socket.terminate());
  return failures;
}

test.each([
  [
    'of 30 MiB',
    'whole',
    { pieces: 60, together: 10 },
    /^the (answers of all models have no room|provider sent more than)/,
  ],
  ['as large as they may be', 'whole', { pieces: 15, together: 4 }, /^the answer of the model is too large$/],
  [
    'of 31 calls that an SDK keeps',
    'streamed',
    { pieces: 31, together: 10 },
    /^the (answers? of|stream ended|provider sent more than)/,
  ],
] as const)(
  'answers of a provider %s that end in one moment leave the gateway its memory',
  async (_, agent, how, said) => {
    [attack, held] = [how, []];
    for (const failure of await failuresOf(how.together, agent)) expect(failure).toMatch(said);
    // The chart gives 1 GiB.
    expect(residentBytes(gateway, 'VmHWM')).toBeLessThan(1000 * MIB);
  },
);
