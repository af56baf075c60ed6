import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { readStream } from './read-stream.ts';

test('a stream that begins tool calls without end is given up', async () => {
  let begun = 0;
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    pull: (controller) => controller.enqueue({ type: 'tool-input-start', id: String(begun++), toolName: 'look' }),
  });
  const reading = readStream(stream, { modelId: 'm-1', modelField: undefined, onText: () => {} });
  await expect(reading).rejects.toThrow('the answer of the model is too large');
  expect(begun).toBeLessThan(2100);
});
