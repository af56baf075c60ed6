import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { chargedOf } from './charged.ts';
import { sizeOfValues } from './size-of-values.ts';
import type { StepView } from './step-results.ts';
import type { StepExecution, TriggerContext } from './model.ts';

/** What is smaller in memory is kept as it is. */
const SMALL_BYTES = 16 * 1024;
/** Of the smallest object or list in memory. */
const BYTES_A_VALUE = 56;
const SIGNS = /[,[{]/g;

/** Characters of what stays read for a moment, with what its values take. */
const READ_SIZE = 32 * 1024 * 1024;
const READ_MS = 10_000;

/** Those that were read last: the texts of a step read the same ones, and runs take turns. */
const read = new LRUCache<Uint8Array, object>({
  maxSize: READ_SIZE,
  ttl: READ_MS,
  ttlAutopurge: true,
  updateAgeOnGet: true,
  memoMethod: (packed, _, { options }) => {
    const json = zstdDecompressSync(packed).toString();
    const value = JSON.parse(json) as object;
    options.size = json.length + sizeOfValues(value, json);
    return value;
  },
});

/** What was read in this turn of the event loop: one text may name more than stays read, again and again, and each is read once. */
const readNow = new Map<Uint8Array, object>();

function partsOf(packed: Uint8Array): object {
  if (readNow.size === 0) setImmediate(() => readNow.clear());
  const parts = readNow.get(packed) ?? read.memo(packed);
  readNow.set(packed, parts);
  return parts;
}

/** The JSON that each is kept as. */
const packs = new WeakMap<object, Uint8Array>();

/** All have the same, so that one takes little more than its JSON. */
const getters = new Map<PropertyKey, PropertyDescriptor>();

function getterOf(key: PropertyKey): PropertyDescriptor {
  const get = function (this: object): unknown {
    return Reflect.get(partsOf(packs.get(this) as Uint8Array), key);
  };
  const known = getters.get(key) ?? { enumerable: true, get };
  getters.set(key, known);
  return known;
}

const sizesInMemory = new WeakMap<object, number>();

/**
 * The object with these keys as compressed JSON, which is read where it is used. Runs wait for people by the thousand, and what three
 * characters of JSON say takes up to fifty times as much in memory.
 */
function held<T extends object>(whole: T, keys: readonly (keyof T)[], json: string, small = SMALL_BYTES): T {
  const size = json.length > small ? Infinity : json.length + BYTES_A_VALUE * (json.match(SIGNS)?.length ?? 0);
  if (size <= small) {
    sizesInMemory.set(whole, size);
    return whole;
  }
  // A copy: what zlib gives stands in a buffer of 64 KiB.
  const packed = new Uint8Array(zstdCompressSync(json));
  const lean = {} as T;
  // In their order: what is a getter from the beginning takes a tenth of what becomes one.
  for (const key of Object.keys(whole) as (keyof T)[])
    if (keys.includes(key)) Object.defineProperty(lean, key, getterOf(key));
    else lean[key] = whole[key];
  packs.set(lean, packed);
  sizesInMemory.set(lean, packed.length);
  return lean;
}

const sizes = new WeakMap<TriggerContext, number>();

const heldJson = ({ labels, annotations, metadata }: TriggerContext): string =>
  JSON.stringify({ labels, annotations, metadata });

/** The context as a run holds it. Nothing that a run does needs the delivery as it came. */
export function heldContext(context: TriggerContext): TriggerContext {
  if (sizes.has(context)) return context;
  const json = heldJson(context);
  const lean = held({ ...context, raw: null }, ['labels', 'annotations', 'metadata'], json);
  sizes.set(lean, json.length);
  return lean;
}

/** Of what a held context says, as JSON. */
export const contextChars = (context: TriggerContext): number => sizes.get(context) ?? 0;

/** Of a run beside what its context says: its log, its question, its place in lists. */
const RUN_BYTES = 24 * 1024;

/** What a run counts for in the bound of all. */
export const heldBytes = (context: TriggerContext): number => RUN_BYTES + contextChars(context);

/** The same before its context is held. */
export const bytesToHold = (context: TriggerContext): number => RUN_BYTES + heldJson(context).length;

const viewChars = new WeakMap<StepView, number>();

/** What later steps see of an ended one, as a run holds it; what takes more than `small` bytes is compressed. */
export function heldView(view: StepView, small?: number): StepView {
  const { output, next_step_context, summary } = view;
  const json = JSON.stringify({ output, next_step_context });
  // Each text looks for the last step that said something to the next: for that no answer is read.
  const lean = held(view, next_step_context === null ? ['output'] : ['output', 'next_step_context'], json, small);
  viewChars.set(lean, json.length + (summary?.length ?? 0));
  return lean;
}

/** Of an answer as JSON, without reading it. */
export const charsOf = (view: StepView | undefined): number => (view && viewChars.get(view)) ?? 0;

/** What a view takes in memory, in bytes. */
export const viewBytes = (view: StepView): number => (sizesInMemory.get(view) ?? 0) + (view.summary?.length ?? 0);

/** Characters of the answers of others that the output of one step has. */
const TOGETHER_CHARS = 2 * 1024 * 1024;
/** In place of one for which there is no room: the step that gave it has it. */
export const LEFT_OUT = { left_out: true };

/** Whether there is room for one more answer of so many characters. */
export function roomTogether(): (chars: number) => boolean {
  let left = TOGETHER_CHARS;
  return (chars) => {
    if (chars > left) return false;
    left -= chars;
    return true;
  };
}

/** What a run that goes on needs of a step, which of an ended one is its result. */
export function heldStep(step: StepExecution): StepExecution {
  const { status, output, nextStepContext, rawResponse } = step;
  if (status === 'running') return step;
  const loaded = rawResponse?.loaded;
  const { trustReport: report } = step;
  // The run counts them.
  const warnings = (report?.warnings ?? []).map(({ type }) => ({ type, message: '' }));
  const trustReport = report && { ...report, signals: [], warnings };
  const kept = { ...(loaded && { loaded }), charged: chargedOf(step) };
  const ended = { ...step, checks: [], artifacts: [], trustReport, rawResponse: kept };
  return held(ended, ['output', 'nextStepContext'], JSON.stringify({ output, nextStepContext }));
}
