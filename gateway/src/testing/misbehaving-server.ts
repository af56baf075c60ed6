import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * An MCP server over stdio that behaves until one of its tools is called; each tool is one way not to.
 * Arguments: `ignore-term` (SIGTERM has no effect), `grandchild` (starts one that holds the pipes).
 */
const TOOLS = [
  'ok',
  'exit',
  'hang',
  'freeze',
  'flood',
  'long-line',
  'wrong-id',
  'garbage',
  'error',
  'change',
  'big',
  'env',
  'double',
  'close-stdout',
];
const traits = process.argv.slice(2);
let tools = TOOLS;

if (traits.includes('ignore-term')) process.on('SIGTERM', () => {});
if (traits.includes('grandchild')) spawn('sleep', ['600'], { stdio: 'inherit' });
if (traits.includes('dies-at-start')) {
  process.stderr.write(`no license found in ${process.env['LICENSE'] ?? 'nothing'}\n`);
  process.exit(3);
}
setInterval(() => {}, 1000);

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
type Request = { id: number; method: string; params: Record<string, unknown> };

const acts: Record<string, (id: number, input: Record<string, unknown>) => unknown> = {
  ok: (id, input) => send({ id, result: text(JSON.stringify({ got: input, pid: process.pid })) }),
  exit: () => process.exit(7),
  hang: () => {},
  freeze: () => {
    for (;;);
  },
  flood: () => {
    const noise =
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(1000) } })}\n`.repeat(
        1000,
      );
    const write = () => process.stdout.write(noise, write);
    write();
  },
  'long-line': () => process.stdout.write('x'.repeat(11 * 1024 * 1024)),
  'wrong-id': (id) => send({ id: id + 1000, result: text('not yours') }),
  garbage: (id) => {
    process.stdout.write('this is a log line\n\u0000\u0001{"jsonrpc":\n');
    send({ id, result: text('after garbage') });
  },
  error: (id) => send({ id, result: { ...text('it failed'), isError: true } }),
  change: (id) => {
    tools = ['ok', 'added-later'];
    send({ method: 'notifications/tools/list_changed' });
    send({ id, result: text('changed') });
  },
  big: (id) => send({ id, result: text('y'.repeat(5_000_000)) }),
  env: (id) => send({ id, result: text(JSON.stringify(process.env)) }),
  double: (id) => {
    send({ id, result: text('first') });
    send({ id, result: text('second') });
  },
  'close-stdout': () => process.stdout.end(),
};

function answer({ id, method, params }: Request): unknown {
  switch (method) {
    case 'initialize':
      return send({
        id,
        result: {
          protocolVersion: params['protocolVersion'],
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'misbehaving', version: '1' },
        },
      });
    case 'ping':
      return send({ id, result: {} });
    case 'tools/list':
      return send({
        id,
        result: {
          tools: tools.map((name) => ({
            name,
            description: `does ${name}`,
            inputSchema: { type: 'object' },
            annotations: { readOnlyHint: name === 'ok' },
          })),
        },
      });
    case 'tools/call':
      return acts[String(params['name'])]?.(id, (params['arguments'] ?? {}) as Record<string, unknown>);
    default:
      return null;
  }
}

createInterface({ input: process.stdin }).on('line', (line) => answer(JSON.parse(line) as Request));
