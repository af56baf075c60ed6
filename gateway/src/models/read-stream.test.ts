import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { readStream } from './read-stream.ts';

test.each([
  ['tool calls', { type: 'tool-input-start', id: '0', toolName: 'look' }, 128],
  ['texts', { type: 'text-start', id: '0' }, 2000],
  ['texts that never began', { type: 'text-end', id: '0' }, 2000],
] as const)('a stream with %s without end is given up', async (_, part, atMost) => {
  let begun = 0;
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    pull: (controller) => {
      begun += 1;
      if (begun > 5000) controller.close();
      else controller.enqueue(part);
    },
  });
  const reading = readStream(stream, { modelId: 'm-1', modelField: undefined, keep: () => {}, onText: () => {} });
  await expect(reading).rejects.toThrow('the answer of the model is too large');
  expect(begun).toBeGreaterThan(atMost);
  expect(begun).toBeLessThan(atMost + 5);
});

test.each([
  ['that nest', '['.repeat(1000), 50],
  ['with many values', '[",",1],'.repeat(500), 34],
  ['with a long text', `"${'[,'.repeat(32_000)}"`, 66],
])('arguments of a call %s are given up before an SDK has read all of them', async (_, delta, atMost) => {
  let pieces = 0;
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    pull: (controller) => {
      pieces += 1;
      controller.enqueue({ type: 'tool-input-delta', id: '1', delta });
      if (pieces > 1000) controller.close();
    },
  });
  const reading = readStream(stream, { modelId: 'm-1', modelField: undefined, keep: () => {}, onText: () => {} });
  await expect(reading).rejects.toThrow('the answer of the model is too large');
  expect(pieces).toBeGreaterThan(atMost - 2);
  expect(pieces).toBeLessThan(atMost + 5);
});

/** What is told of a stream with these pieces of a text, each with the millisecond in which it came. */
async function toldOf(deltas: string[]) {
  const told: { text: string; turn: number }[] = [];
  let turn = 0;
  const turns = setInterval(() => (turn += 1), 1);
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start: (controller) => {
      for (const delta of deltas) controller.enqueue({ type: 'text-delta', id: '0', delta });
      controller.close();
    },
  });
  const onText = (text: string) => told.push({ text, turn });
  const reading = readStream(stream, { modelId: 'm-1', modelField: undefined, keep: () => {}, onText });
  const error = await reading.then(
    () => null,
    (failure: Error) => failure.message,
  );
  clearInterval(turns);
  return { told, error };
}

test('nothing is told of a piece of text that no model says', async () => {
  expect(await toldOf(['x'.repeat(9_000_000)])).toEqual({ told: [], error: 'the answer of the model is too large' });
});

test.each([
  ['one large piece', ['x'.repeat(300_000)]],
  ['many pieces at once', Array.from({ length: 3000 }, () => 'x'.repeat(100))],
])('%s of a text is told a part in a turn', async (_, deltas) => {
  const { told, error } = await toldOf(deltas);
  expect(error).toBeNull();
  expect(told.map(({ text }) => text).join('')).toBe('x'.repeat(300_000));
  const turns = Map.groupBy(told, ({ turn }) => turn).values();
  for (const inTurn of turns) expect(inTurn.map(({ text }) => text).join('').length).toBeLessThanOrEqual(64 * 1024);
});
