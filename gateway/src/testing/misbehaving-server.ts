import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * An MCP server over stdio that behaves until one of its tools is called; each tool is one way not to.
 * Arguments: `ignore-term` (SIGTERM has no effect), `grandchild` (starts one that holds the pipes), `daemon` (starts one with a
 * session of its own), `bare-grandchild` (one that ignores SIGTERM and has no environment), `dies-at-start`, `refuses` (the handshake) and `cannot-list` (both say `LICENSE`), `endless-tools`, `many-tools`,
 * `heavy-tools`, `heavy-extras`, `long-name`, `deep-tool` and `twin-tools` (what it lists).
 */
const TOOLS = [
  'ok',
  'exit',
  'hang',
  'freeze',
  'flood',
  'blank-flood',
  'answer-flood',
  'stderr-endless',
  'long-line',
  'wrong-id',
  'garbage',
  'error',
  'change',
  'big',
  'env',
  'double',
  'deep-double',
  'close-stdout',
  'memory',
  'child-memory',
  'daemon-memory',
  'bare-daemon-memory',
  'half-line',
  'bad-shape',
  'many-keys',
  'rpc-error',
  'telling-error',
  'stderr-flood',
  'change-storm',
  'stop-reading',
  'ask-unread',
  'long-id',
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
if (traits.includes('bare-grandchild'))
  spawn('/bin/sh', ['-c', 'trap "" TERM; while :; do /bin/sleep 0.1; done; exec sleep 602'], {
    env: {},
    stdio: 'ignore',
  });
if (traits.includes('daemon')) spawn('sleep', ['601'], { stdio: 'ignore', detached: true }).unref();
if (traits.includes('dies-at-start')) {
  process.stderr.write(`no license found in ${process.env['LICENSE'] ?? 'nothing'}\n`);
  process.exit(3);
}
setInterval(() => {}, 1000);

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
function endlessly(stream: NodeJS.WriteStream, noise: string): void {
  stream.write(noise, () => endlessly(stream, noise));
}
function hoardElsewhere(detached: boolean, env = process.env): void {
  const script = 'const b = Buffer.alloc(400 * 1024 * 1024, 1); setInterval(() => b.length, 1000)';
  spawn(process.execPath, ['-e', script, `of-${process.pid}`], { detached, stdio: 'ignore', env });
}
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
const refusal = () => ({ code: -32_603, message: `the license ${process.env['LICENSE']} is over` });
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
    endlessly(process.stdout, noise);
  },
  'blank-flood': () => endlessly(process.stdout, '\r\n'.repeat(30_000)),
  'answer-flood': (id) =>
    endlessly(process.stdout, `${JSON.stringify({ jsonrpc: '2.0', id, result: text('once more') })}\n`.repeat(1000)),
  'stderr-endless': () => endlessly(process.stderr, 'e'.repeat(64 * 1024)),
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
  'deep-double': (id) => {
    send({ id, result: text('first') });
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":${deep}}}\n`);
  },
  'close-stdout': () => process.stdout.end(),
  memory: () => {
    hoard.push(Buffer.alloc(400 * 1024 * 1024, 1));
  },
  'child-memory': () => hoardElsewhere(false),
  'daemon-memory': () => hoardElsewhere(true),
  'bare-daemon-memory': () => hoardElsewhere(true, {}),
  'half-line': (id) => {
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"te`, () => process.exit(9));
  },
  'many-keys': (id) => {
    const keys = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`key-${at}`, at]));
    send({ id, result: { ...keys, content: [] } });
  },
  'bad-shape': (id) => send({ id, result: { content: 'not a list' } }),
  'telling-error': (id) => send({ id, error: refusal() }),
  'rpc-error': (id) => send({ id, error: { code: -32603, message: 'it broke inside' } }),
  'stderr-flood': (id) => {
    process.stderr.write('e'.repeat(20_000_000), () => send({ id, result: text('after the flood') }));
  },
  'change-storm': (id) => {
    for (let count = 0; count < 2000; count++) send({ method: 'notifications/tools/list_changed' });
    send({ id, result: text('changed much') });
  },
  'stop-reading': () => input.pause(),
  'ask-unread': (id) => {
    send({ id, result: text('asking') });
    input.pause();
    let asked = 0;
    setInterval(() => send({ id: `mine-${(asked += 1)}`, method: 'ping' }), 100);
  },
  'long-id': () => send({ id: '\u{fffd}'.repeat(201), method: 'ping' }),
};

const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });

function listed(): string[] {
  if (traits.includes('many-tools')) return Array.from({ length: 1001 }, (_, at) => `tool-${at}`);
  if (traits.includes('long-name')) return ['a'.repeat(1_000_000)];
  if (traits.includes('heavy-tools') || traits.includes('heavy-extras')) return ['ok'];
  return traits.includes('twin-tools') ? ['ok', 'env', 'ok', 'ok'] : tools;
}

function answer({ id, method, params }: Request): unknown {
  switch (method) {
    case 'initialize':
      if (traits.includes('refuses')) return send({ id, error: refusal() });
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
      if (traits.includes('cannot-list')) return send({ id, error: refusal() });
      return send({
        id,
        result: {
          ...(traits.includes('endless-tools') ? { nextCursor: 'more' } : {}),
          tools: listed().map((name) => ({
            name,
            description: traits.includes('heavy-tools') ? 'd'.repeat(3 * 1024 * 1024) : `does ${name}`,
            inputSchema: { type: 'object', ...(traits.includes('deep-tool') && { properties: nested(60) }) },
            extras: traits.includes('heavy-extras') ? 'e'.repeat(3 * 1024 * 1024) : '',
            annotations: { readOnlyHint: name === 'ok' },
          })),
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
