import { expect, test } from 'vitest';
import type { CallResult } from './rpc-client.ts';
import { whileFull } from './while-full.ts';

const full = (retryAfterMs?: number): CallResult => ({
  ok: false,
  type: 'at_capacity',
  message: 'the gateway is stopping',
  retryable: true,
  retryAfterMs,
});
const done: CallResult = { ok: true, result: { text: 'done' } };

/** Gives these answers in turn and keeps how long was waited between them. */
function asking(answers: CallResult[], signal = new AbortController().signal) {
  const waits: number[] = [];
  const told: string[] = [];
  let asked = 0;
  const ask = () => Promise.resolve(answers[Math.min(asked++, answers.length - 1)] as CallResult);
  const wait = (milliseconds: number) => {
    waits.push(milliseconds);
    return Promise.resolve();
  };
  const result = whileFull(ask, { signal, onFull: (message) => told.push(message), wait });
  return { result, waits, told, asked: () => asked };
}

test('a backend without room is asked again until it takes the call, which is told once', async () => {
  const { result, waits, told } = asking([full(), full(), full(), done]);
  expect(await result).toEqual(done);
  expect(told).toEqual(['the gateway is stopping']);
  const bounds = [1000, 2000, 4000];
  expect(waits).toHaveLength(3);
  for (const [turn, milliseconds] of waits.entries()) {
    expect(milliseconds).toBeGreaterThanOrEqual((bounds[turn] ?? 0) * 0.75);
    expect(milliseconds).toBeLessThanOrEqual(bounds[turn] ?? 0);
  }
});

test('it is left alone for as long as it says, and never for more than fifteen seconds', async () => {
  const { result, waits } = asking([full(5000), full(5000), full(600_000), done]);
  await result;
  expect(waits[0]).toBeGreaterThanOrEqual(3750);
  expect(Math.max(...waits)).toBeLessThanOrEqual(15_000);
});

test.each([
  ['done', done],
  ['another failure', { ok: false, type: 'timeout', message: 'late', retryable: true } satisfies CallResult],
  ['a refusal for good', { ...full(), retryable: false } as CallResult],
])('%s is the answer', async (_name, answer) => {
  const { result, waits, told } = asking([answer]);
  expect([await result, waits, told]).toEqual([answer, [], []]);
});

test('when the step is over, the refusal is the answer', async () => {
  const controller = new AbortController();
  const waiting = whileFull(() => Promise.resolve(full()), { signal: controller.signal, onFull: () => undefined });
  controller.abort();
  expect(await waiting).toEqual(full());
});
