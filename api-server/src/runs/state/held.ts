import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { StepView } from './active-run.ts';
import type { StepExecution, TriggerContext } from './model.ts';

/** What is smaller in memory is kept as it is. */
const SMALL_BYTES = 16 * 1024;
/** Of the smallest object or list in memory. */
const BYTES_A_VALUE = 56;
const SIGNS = /[,[{]/g;

/** Those that were read last: the texts of a step read the same ones. */
const read = new LRUCache<Buffer, object>({
  max: 4,
  memoMethod: (packed) => JSON.parse(zstdDecompressSync(packed).toString()) as object,
});

/**
 * The object with these keys as compressed JSON, which is read where it is used. Runs wait for people by the thousand, and what three
 * characters of JSON say takes up to fifty times as much in memory.
 */
function held<T extends object>(whole: T, keys: readonly (keyof T)[], json: string): T {
  if (json.length <= SMALL_BYTES && json.length + BYTES_A_VALUE * (json.match(SIGNS)?.length ?? 0) <= SMALL_BYTES)
    return whole;
  const packed = zstdCompressSync(json);
  const parts = keys.map((key) => [key, { enumerable: true, get: () => (read.memo(packed) as T)[key] }]);
  return Object.defineProperties({ ...whole }, Object.fromEntries(parts) as PropertyDescriptorMap);
}

const sizes = new WeakMap<TriggerContext, number>();

/** The context as a run holds it. Nothing that a run does needs the delivery as it came. */
export function heldContext(context: TriggerContext): TriggerContext {
  if (sizes.has(context)) return context;
  const { labels, annotations, metadata } = context;
  const json = JSON.stringify({ labels, annotations, metadata });
  const lean = held({ ...context, raw: null }, ['labels', 'annotations', 'metadata'], json);
  sizes.set(lean, json.length);
  return lean;
}

/** Of a run beside what its context says. */
const RUN_BYTES = 16 * 1024;

/** What a run counts for in the bound of all. */
export const heldBytes = (context: TriggerContext): number => RUN_BYTES + (sizes.get(context) ?? 0);

/** What later steps see of an ended one, as a run holds it. */
export function heldView(view: StepView): StepView {
  const { output, next_step_context } = view;
  return held(view, ['output', 'next_step_context'], JSON.stringify({ output, next_step_context }));
}

/** What a run that goes on needs of a step, which of an ended one is its result. */
export function heldStep(step: StepExecution): StepExecution {
  const { status, output, nextStepContext, rawResponse } = step;
  if (status === 'running') return step;
  const loaded = rawResponse?.loaded;
  const ended = { ...step, rawResponse: loaded ? { loaded } : null };
  return held(ended, ['output', 'nextStepContext'], JSON.stringify({ output, nextStepContext }));
}
