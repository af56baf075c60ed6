import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createValueCounter } from '@signalbox/crds';
import { MAX_REPLY_CHARS, TOO_LARGE } from './bound-reply.ts';
import { MAX_VALUES } from './bound-values.ts';
import { BrokenAnswer, reportedError } from './failure.ts';
import type { ModelContent, ModelReply } from './model.ts';
import { tellInPieces } from './tell-in-pieces.ts';
import { usageOf } from './usage.ts';

export interface StreamTarget {
  modelId: string;
  /** See `Dialect`. */
  modelField: string | undefined;
  onText: (delta: string) => void;
  /** Called with each piece that stays in memory. */
  keep: (piece: string) => void;
}
type OpenBlock = Extract<ModelContent, { type: 'text' | 'reasoning' }>;
/** All but pieces of texts, thoughts and calls: some have an SDK go through what there was before. */
const MAX_STREAMED_PARTS = 2000;
/** An SDK looks through all of them with each piece of one. */
const MAX_STREAMED_CALLS = 128;

/** Collects a streamed answer into the same shape as an unstreamed one. Rejects when the provider reports an error. */
export async function readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  target: StreamTarget,
): Promise<ModelReply> {
  const collector = new StreamCollector(target);
  const tell = tellInPieces(target.onText);
  for await (const part of stream) {
    collector.add(part);
    if (part.type === 'text-delta') await tell(part.delta);
  }
  return collector.reply;
}

/** Opens, grows and closes text and reasoning blocks; other finished parts are kept as they come. */
class StreamCollector {
  readonly reply: ModelReply;
  private readonly modelField: string | undefined;
  private readonly keep: (piece: string) => void;
  private readonly open = new Map<string, OpenBlock>();
  /** Count the values in the arguments of each call. */
  private readonly counters = new Map<string, (text: string) => number>();
  private chars = 0;
  private values = 0;
  private parts = 0;
  private calls = 0;

  constructor({ modelId, modelField, keep }: StreamTarget) {
    this.modelField = modelField;
    this.keep = keep;
    this.reply = { content: [], finish: '', usage: { input: null, output: null, cachedInput: null }, modelId };
  }

  add(part: LanguageModelV4StreamPart): void {
    this.countPart(part.type);
    switch (part.type) {
      case 'text-start':
        return this.begin({ type: 'text', text: '' }, part.id);
      case 'reasoning-start':
        return this.begin({ type: 'reasoning', text: '' }, part.id);
      case 'text-delta':
        return this.grow(`text:${part.id}`, part.delta);
      case 'reasoning-delta':
        return this.grow(`reasoning:${part.id}`, part.delta);
      case 'tool-input-delta':
        return this.growInput(part.id, part.delta);
      case 'text-end':
        return this.end(`text:${part.id}`, part.providerMetadata);
      case 'reasoning-end':
        return this.end(`reasoning:${part.id}`, part.providerMetadata);
      case 'error':
        throw reportedError(part.error);
      default:
        return this.addWhole(part);
    }
  }

  private countPart(type: LanguageModelV4StreamPart['type']): void {
    if (type === 'tool-input-start') this.calls += 1;
    if (type !== 'raw' && !type.endsWith('-delta')) this.parts += 1;
    if (this.calls > MAX_STREAMED_CALLS || this.parts > MAX_STREAMED_PARTS) throw new BrokenAnswer(TOO_LARGE, false);
  }

  private addWhole(part: LanguageModelV4StreamPart): void {
    if (part.type === 'tool-call') this.reply.content.push(part);
    if (part.type === 'raw') this.reply.modelId = namedIn(part.rawValue, this.modelField) ?? this.reply.modelId;
    if (part.type === 'response-metadata') this.reply.modelId = part.modelId ?? this.reply.modelId;
    if (part.type !== 'finish') return;
    this.reply.finish = part.finishReason.unified;
    this.reply.usage = usageOf(part.usage);
  }

  private begin(block: OpenBlock, id: string): void {
    this.open.set(`${block.type}:${id}`, block);
    this.reply.content.push(block);
  }

  /** An SDK keeps an object of each value of arguments that are not complete. */
  private growInput(id: string, delta: string): void {
    this.count(delta);
    const valuesIn = this.counters.get(id) ?? createValueCounter();
    this.counters.set(id, valuesIn);
    this.values += valuesIn(delta);
    if (this.values > MAX_VALUES) throw new BrokenAnswer(TOO_LARGE, false);
  }

  private count(delta: string): void {
    this.keep(delta);
    this.chars += delta.length;
    if (this.chars > MAX_REPLY_CHARS) throw new BrokenAnswer(TOO_LARGE, false);
  }

  private grow(key: string, delta: string): void {
    this.count(delta);
    const block = this.open.get(key);
    if (block) block.text += delta;
  }

  private end(key: string, providerMetadata: OpenBlock['providerMetadata']): void {
    const block = this.open.get(key);
    if (block && providerMetadata) block.providerMetadata = providerMetadata;
  }
}

/** The text under a key of a provider's own answer, where there is one. */
export function namedIn(body: unknown, key: string | undefined): string | null {
  if (key === undefined || typeof body !== 'object' || body === null) return null;
  const value = (body as Record<string, unknown>)[key];
  return typeof value === 'string' && value !== '' ? value : null;
}
