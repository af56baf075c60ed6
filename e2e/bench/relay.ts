import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

/**
 * What the gateway is measured against: the least that takes a JSON-RPC call over a WebSocket, asks a model over HTTP and
 * answers, on the same libraries. No token, no agent, no limits, no events, no record of anything. Argument: the model's address.
 */
const model = new URL(`${process.argv[2]}/chat/completions`);
const agent = new Agent({ keepAlive: true });

interface Call {
  id: number;
  params: { input: string };
}
interface Completion {
  choices: { message: { content: string } }[];
  usage: object;
}

function ask(input: string): Promise<Completion> {
  const body = JSON.stringify({ model: 'instant', messages: [{ role: 'user', content: input }] });
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const outgoing = request(model, { method: 'POST', agent, headers }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      incoming.on('end', () => resolve(JSON.parse(text) as Completion));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function answer({ id, params }: Call): Promise<string> {
  const { choices, usage } = await ask(params.input);
  return JSON.stringify({ jsonrpc: '2.0', id, result: { text: choices[0]?.message.content, usage } });
}

const http = createServer();
const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
sockets.on('connection', (socket) => {
  socket.on('message', (data) => {
    void answer(JSON.parse(String(data)) as Call).then((text) => socket.send(text));
  });
});
http.listen(0, '127.0.0.1', () => {
  const { port } = http.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ msg: 'listening', url: `http://127.0.0.1:${port}` })}\n`);
});
