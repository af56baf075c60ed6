import { valuesIn } from '@signalbox/crds';
import { MAX_VALUES } from './bound-values.ts';
import { BrokenAnswer } from './failure.ts';
import type { ModelReply } from './model.ts';

const MAX_MODEL_ID_CHARS = 1000;
/** Of the parts of one answer that its run keeps, as JSON. */
export const MAX_REPLY_CHARS = 4 * 1024 * 1024;
export const TOO_LARGE = 'the answer of the model is too large';
const KEPT = new Set(['text', 'reasoning', 'tool-call']);

/**
 * Rejects an answer that takes long to read: arguments of calls are JSON within a text, so nothing has counted their values yet, and
 * each turn of the run sends all of them again.
 */
export function requireBounded({ content, usage, modelId }: Omit<ModelReply, 'finish'>): void {
  const kept = content.filter(({ type }) => KEPT.has(type));
  const values = kept.reduce((sum, part) => sum + (part.type === 'tool-call' ? valuesIn(part.input) : 0), 0);
  const isLong = modelId.length > MAX_MODEL_ID_CHARS || JSON.stringify(kept).length > MAX_REPLY_CHARS;
  if (isLong || values > MAX_VALUES) throw new BrokenAnswer(TOO_LARGE, false, usage);
}
