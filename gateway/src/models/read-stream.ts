import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { usageOf } from './language-model.ts';
import { BrokenAnswer } from './failure.ts';
import type { ModelContent, ModelReply } from './model.ts';

interface StreamTarget {
  modelId: string;
  onText: (delta: string) => void;
}
type OpenBlock = Extract<ModelContent, { type: 'text' | 'reasoning' }>;
const MAX_STREAMED_CHARS = 4 * 1024 * 1024;

/** Collects a streamed answer into the same shape as an unstreamed one. Rejects when the provider reports an error or stops early. */
export async function readStream(stream: ReadableStream<LanguageModelV4StreamPart>, target: StreamTarget): Promise<ModelReply> {
  const content: ModelContent[] = [];
  const open = new Map<string, OpenBlock>();
  const reply: ModelReply = { content, finish: '', usage: { input: null, output: null, cachedInput: null }, modelId: target.modelId };
  let chars = 0;
  for await (const part of stream) {
    if (part.type === 'error') throw part.error instanceof Error ? part.error : new BrokenAnswer('the provider reported an error while it streamed', true);
    if (part.type === 'finish') {
      reply.finish = part.finishReason.unified;
      reply.usage = usageOf(part.usage);
    } else if (part.type === 'response-metadata') {
      reply.modelId = part.modelId ?? reply.modelId;
    } else if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      chars += part.delta.length;
      if (chars > MAX_STREAMED_CHARS) throw new BrokenAnswer('the streamed answer is too large', false);
      if (part.type === 'text-delta') target.onText(part.delta);
    }
    collect(part, content, open);
  }
  if (reply.finish === '') throw new BrokenAnswer('the stream ended before the answer did', true);
  return reply;
}

/** Opens, grows and closes text and reasoning blocks; other finished parts are kept as they come. */
function collect(part: LanguageModelV4StreamPart, content: ModelContent[], open: Map<string, OpenBlock>): void {
  switch (part.type) {
    case 'text-start':
    case 'reasoning-start': {
      const type = part.type === 'text-start' ? 'text' : 'reasoning';
      const block: OpenBlock = { type, text: '' };
      open.set(`${type}:${part.id}`, block);
      content.push(block);
      break;
    }
    case 'text-delta':
    case 'reasoning-delta': {
      const block = open.get(`${part.type === 'text-delta' ? 'text' : 'reasoning'}:${part.id}`);
      if (block) block.text += part.delta;
      break;
    }
    case 'text-end':
    case 'reasoning-end': {
      const block = open.get(`${part.type === 'text-end' ? 'text' : 'reasoning'}:${part.id}`);
      if (block && part.providerMetadata) block.providerMetadata = part.providerMetadata;
      break;
    }
    case 'tool-call':
      content.push(part);
      break;
    default:
      break;
  }
}
