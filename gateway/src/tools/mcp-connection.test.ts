import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connectMcp } from './mcp-connection.ts';
import type { ToolConnection } from './tool.ts';

const TIMEOUT_MS = 30_000;
let connection: ToolConnection;
/** Reports progress of the call that hangs, and answers it. */
let working: { progress: () => Promise<void>; answer: (text: string) => void };
let cancelled = 0;

beforeEach(async () => {
  const server = new McpServer({ name: 'slow', version: '1' });
  server.registerTool('work', {}, async ({ _meta, sendNotification, signal }) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    let progress = 0;
    signal.addEventListener('abort', () => (cancelled += 1));
    working = {
      progress: () =>
        sendNotification({
          method: 'notifications/progress',
          params: { progressToken: _meta?.progressToken ?? '', progress: (progress += 1) },
        }),
      answer: resolve,
    };
    return { content: [{ type: 'text', text: await promise }] };
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const about = { pid: () => null, reason: () => 'closed', conceal: (text: string) => text };
  connection = await connectMcp({ transport: near, ...about }, new AbortController().signal);
  cancelled = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await connection.close();
});

/** What is sent arrives at once; timers do not move. */
const delivered = () => new Promise((resolve) => setImmediate(resolve));

async function begin({ signal = new AbortController().signal, maxTimeoutMs = 100_000 } = {}) {
  const answer = connection.call('work', {}, { signal, timeoutMs: TIMEOUT_MS, maxTimeoutMs });
  let ended = false;
  void answer.then(() => (ended = true));
  await delivered();
  const pass = async (ms: number) => {
    vi.advanceTimersByTime(ms);
    await delivered();
    return ended;
  };
  return { answer, pass };
}

test('a call without progress ends with its timeout, and is taken back at the server', async () => {
  const { answer, pass } = await begin();
  expect(await pass(TIMEOUT_MS - 1)).toBe(false);
  expect(await pass(1)).toBe(true);
  expect(await answer).toEqual({ kind: 'timeout', text: 'the tool did not answer within 30 s' });
  expect(cancelled).toBe(1);
});

test('every progress notification starts the timeout again', async () => {
  const { answer, pass } = await begin();
  for (let time = 0; time < 3; time++) {
    expect(await pass(TIMEOUT_MS - 1)).toBe(false);
    await working.progress();
    await delivered();
  }
  working.answer('done');
  expect(await answer).toEqual({ kind: 'ok', text: 'done' });
});

test('progress does not stretch a call beyond its longest time', async () => {
  const { answer, pass } = await begin({ maxTimeoutMs: 50_000 });
  expect(await pass(29_000)).toBe(false);
  await working.progress();
  await delivered();
  expect(await pass(20_999)).toBe(false);
  expect(await pass(1)).toBe(true);
  expect(await answer).toEqual({ kind: 'timeout', text: 'the tool did not answer within 50 s' });
  expect(cancelled).toBe(1);
});

test('an answered call leaves no timer, and the end of its run does not take it back', async () => {
  const run = new AbortController();
  const { answer } = await begin({ signal: run.signal });
  working.answer('done');
  await answer;
  expect(vi.getTimerCount()).toBe(0);
  run.abort(new Error('over'));
  await delivered();
  expect(cancelled).toBe(0);
});

test('a call of a run that is over is not made', async () => {
  const { answer } = await begin({ signal: AbortSignal.abort(new Error('over')) });
  expect((await answer).kind).not.toBe('ok');
  expect(vi.getTimerCount()).toBe(0);
});
