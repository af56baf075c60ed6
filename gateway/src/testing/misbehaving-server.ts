import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * An MCP server over stdio that behaves until one of its tools is called; each tool is one way not to.
 * Arguments: `ignore-term` (SIGTERM has no effect), `grandchild` (starts one that holds the pipes), `daemon` (starts one with a
 * session of its own), `dies-at-start`, `endless-tools` and `many-tools` (what it lists).
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
  'memory',
  'child-memory',
  'half-line',
  'bad-shape',
  'rpc-error',
  'stderr-flood',
  'change-storm',
  'stop-reading',
  'meta',
  'cancelled',
];
const traits = process.argv.slice(2);
let tools = TOOLS;
const hoard: Buffer[] = [];
/** Ids of the calls that were taken back. */
const cancelled: unknown[] = [];

if (traits.includes('ignore-term')) process.on('SIGTERM', () => {});
if (traits.includes('grandchild')) spawn('sleep', ['600'], { stdio: 'inherit' });
if (traits.includes('daemon')) spawn('sleep', ['601'], { stdio: 'ignore', detached: true }).unref();
if (traits.includes('dies-at-start')) {
  process.stderr.write(`no license found in ${process.env['LICENSE'] ?? 'nothing'}\n`);
  process.exit(3);
}
setInterval(() => {}, 1000);

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
type Request = { id: number; method: string; params: Record<string, unknown> };

const acts: Record<string, (id: number, input: Record<string, unknown>, meta: unknown) => unknown> = {
  cancelled: (id) => send({ id, result: text(JSON.stringify(cancelled)) }),
  meta: (id, _, meta) => send({ id, result: text(JSON.stringify(meta ?? null)) }),
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
  memory: () => {
    hoard.push(Buffer.alloc(400 * 1024 * 1024, 1));
  },
  'child-memory': () => {
    spawn(process.execPath, ['-e', 'const b = Buffer.alloc(400 * 1024 * 1024, 1); setInterval(() => b.length, 1000)']);
  },
  'half-line': (id) => {
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"te`, () => process.exit(9));
  },
  'bad-shape': (id) => send({ id, result: { content: 'not a list' } }),
  'rpc-error': (id) => send({ id, error: { code: -32603, message: 'it broke inside' } }),
  'stderr-flood': (id) => {
    process.stderr.write('e'.repeat(20_000_000), () => send({ id, result: text('after the flood') }));
  },
  'change-storm': (id) => {
    for (let count = 0; count < 2000; count++) send({ method: 'notifications/tools/list_changed' });
    send({ id, result: text('changed much') });
  },
  'stop-reading': () => input.pause(),
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
    case 'notifications/cancelled':
      return cancelled.push(params['requestId']);
    case 'ping':
      return send({ id, result: {} });
    case 'tools/list':
      return send({
        id,
        result: {
          ...(traits.includes('endless-tools') ? { nextCursor: 'more' } : {}),
          tools: (traits.includes('many-tools') ? Array.from({ length: 1001 }, (_, at) => `tool-${at}`) : tools).map(
            (name) => ({
              name,
              description: `does ${name}`,
              inputSchema: { type: 'object' },
              annotations: { readOnlyHint: name === 'ok' },
            }),
          ),
        },
      });
    case 'tools/call':
      return acts[String(params['name'])]?.(
        id,
        (params['arguments'] ?? {}) as Record<string, unknown>,
        params['_meta'],
      );
    default:
      return null;
  }
}

const input = createInterface({ input: process.stdin });
input.on('line', (line) => answer(JSON.parse(line) as Request));
