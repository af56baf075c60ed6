import { setImmediate as setImmediateOnce } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { boundedFetch } from './bounded-fetch.ts';

const MIB = 1024 * 1024;
const ASK = { headers: { accept: 'application/json, text/event-stream' } };

/** A session, and how one of its answers is read that begins like this and has no end. */
function session(type: string) {
  const floods: string[] = [];
  let body: string[] = [];
  const inner = () => {
    const stream = new ReadableStream({
      start: (controller) => {
        for (const chunk of body) controller.enqueue(Buffer.from(chunk));
      },
    });
    return Promise.resolve(new Response(stream, { headers: { 'content-type': type } }));
  };
  const onFlood = (reason: string) => floods.push(reason);
  const fetch = boundedFetch(inner, 10 * MIB, onFlood, () => 0);
  const ask = async (...chunks: string[]) => {
    body = chunks;
    const { body: read } = await fetch('http://remote/mcp', ASK);
    return (read as ReadableStream<Uint8Array>).getReader();
  };
  const begin = async (...chunks: string[]) => {
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const reader = await ask(...chunks);
    for (let seen = 0; seen < length; seen += (await reader.read()).value?.length ?? 0);
    return reader;
  };
  return { floods, begin, ask };
}

test.each(['text/event-stream', 'application/json'])(
  'all answers of a session together have so many bytes that are not complete: %s',
  async (type) => {
    const { begin } = session(type);
    const text = 'x'.repeat(9 * MIB);
    const readers = [await begin(text), await begin(text), await begin(text)];
    await expect(begin(text)).rejects.toThrow('sent more than 33554432 bytes that are not complete');
    await readers[0]?.cancel();
    await setImmediate();
    await expect(begin(text)).resolves.toBeDefined();
  },
);

test('an event that is complete takes no room from others, however it is cut', async () => {
  const { floods, begin } = session('text/event-stream');
  const chunks = [`data: ${'x'.repeat(6 * MIB)}\r\n`, '\r\n'];
  for (let count = 0; count < 3; count++) await begin(...chunks, ...chunks);
  expect(floods).toEqual([]);
});

test('the streams of a session have so many lines and bytes together', async () => {
  const lines = session('text/event-stream');
  for (let count = 0; count < 4; count++) await lines.begin('\n'.repeat(50_000));
  await expect(lines.begin('\n')).rejects.toThrow('flooded its output');
  const bytes = session('text/event-stream');
  for (let count = 0; count < 8; count++) await bytes.begin(`${'x'.repeat(8 * MIB - 2)}\n\n`);
  await expect(bytes.begin('\n')).rejects.toThrow('flooded its output');
  expect([lines.floods, bytes.floods]).toEqual([['flooded its output'], ['flooded its output']]);
});

test('an answer about tokens is small', async () => {
  const inner = () => Promise.resolve(new Response('x'.repeat(70_000)));
  const fetch = boundedFetch(inner, 10 * MIB, () => {});
  expect(await (await fetch('http://remote/mcp', ASK)).text()).toHaveLength(70_000);
  const read = (await fetch('http://remote/token', { method: 'POST' })).text();
  await expect(read).rejects.toThrow('sent more than 65536 bytes');
});

test('an answer about tokens has few values', async () => {
  const body = `[${'1,'.repeat(1000)}1]`;
  const fetch = boundedFetch(
    () => Promise.resolve(new Response(body)),
    10 * MIB,
    () => {},
  );
  expect(await (await fetch('http://remote/mcp', ASK)).text()).toBe(body);
  const read = (await fetch('http://remote/token', { method: 'POST' })).text();
  await expect(read).rejects.toThrow('sent more than 1000 values in one message');
});

test('of answers that are complete at once each is read in a turn of its own', async () => {
  const fetch = boundedFetch(
    () => Promise.resolve(new Response('x'.repeat(5000))),
    10 * MIB,
    () => {},
  );
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediateOnce(count);
  };
  setImmediateOnce(count);
  const read = async () => {
    await (await fetch('http://remote/mcp', ASK)).text();
    return turn;
  };
  const turns = await Promise.all(Array.from({ length: 20 }, read));
  isOver = true;
  expect(new Set(turns).size).toBe(20);
});

test('answers that are given up while they wait for their turns take no room from others', async () => {
  const { begin, ask } = session('application/json');
  const text = 'x'.repeat(9 * MIB);
  const readers = await Promise.all(Array.from({ length: 6 }, () => ask(text)));
  const reading = readers.map((reader) => reader.read());
  await setImmediate();
  await Promise.all(readers.map((reader) => reader.cancel()));
  await Promise.all(reading);
  await expect(begin(text)).resolves.toBeDefined();
});
