import { ownValue, stepValue } from './lookup.ts';
import type { RenderFault } from './template-model.ts';

/** Bounds of one rendering, which is synchronous. */
const MAX_ITERATIONS = 100_000;
const MAX_VISITS = 1_000_000;
const MAX_OUTPUT = 1024 * 1024;
/** Places of values in the text, of which those that follow each other are one: the service reads and keeps all of them. */
const MAX_SPANS = 10_000;
/** Characters that weigh as much as one visit. */
const CHARS_PER_VISIT = 64;
/** What each value in a list or map weighs beside its text, in characters. */
const VALUE_CHARS = 16;

/** The values that are in scope at one place of a template. */
export interface Frame {
  value: unknown;
  parent: Frame | null;
  loop: { index: number; key: string | number; first: boolean; last: boolean } | null;
  names: Readonly<Record<string, unknown>> | null;
}

/** A compiled piece of a template; writes its text. */
export type Piece = (frame: Frame, output: Output) => void;

class RenderStop extends Error {}

/** Collects the text of one rendering and counts its work. */
export class Output {
  text = '';
  readonly spans: [number, number][] = [];
  readonly missing = new Set<string>();
  readonly root: unknown;
  fault: { reason: RenderFault; msg: string } | null = null;
  /** The value that contributed the most characters. */
  largest: { path: string; chars: number } | null = null;
  /** The path that is being written or repeated. */
  private doing: string | null = null;
  private iterations = 0;
  private visits = 0;
  private readonly maxVisits: number;

  constructor(root: unknown, maxVisits = MAX_VISITS) {
    this.root = root;
    this.maxVisits = maxVisits;
  }

  literal(text: string): void {
    this.visit(1 + text.length / CHARS_PER_VISIT);
    this.append(text);
  }

  value(value: unknown, path: string): void {
    this.visit();
    this.doing = path;
    // Before it is written: a step's results may be many times as much as all that a template may write.
    if (isHeavier(value, (this.maxVisits - this.visits) * CHARS_PER_VISIT)) this.visit(Number.POSITIVE_INFINITY);
    const text = textOf(value);
    if (text === '') return;
    this.visit(text.length / CHARS_PER_VISIT);
    if (text.length > (this.largest?.chars ?? 0)) this.largest = { path, chars: text.length };
    const start = this.text.length;
    this.append(text);
    this.mark(start);
  }

  visit(weight = 1): void {
    this.visits += weight;
    if (this.visits > this.maxVisits)
      this.stop('too_many_iterations', `the template does more than ${this.maxVisits} things`);
  }

  iterate(path: string): void {
    this.doing = `#each ${path}`;
    this.visit();
    if (++this.iterations > MAX_ITERATIONS)
      this.stop('too_many_iterations', `the template repeats more than ${MAX_ITERATIONS} times`);
  }

  stop(reason: RenderFault, msg: string): never {
    this.fault = { reason, msg: this.placed(msg) };
    throw new RenderStop(msg);
  }

  placed(msg: string): string {
    return this.doing === null ? msg : `${msg}, at {{${this.doing}}}`;
  }

  private mark(start: number): void {
    const last = this.spans.at(-1);
    if (last?.[1] === start) last[1] = this.text.length;
    else this.spans.push([start, this.text.length]);
    if (this.spans.length > MAX_SPANS) this.stop('too_large', `the text has values in more than ${MAX_SPANS} places`);
  }

  private append(text: string): void {
    if (this.text.length + text.length > MAX_OUTPUT) this.stop('too_large', 'the rendered text is larger than 1 MiB');
    this.text += text;
  }
}

/** Runs compiled pieces over a context. */
export function renderProgram(program: Piece, context: Readonly<Record<string, unknown>>, maxVisits?: number): Output {
  const output = new Output(context, maxVisits);
  try {
    program({ value: context, parent: null, loop: null, names: null }, output);
    if (output.text.length > MAX_OUTPUT / 3 && Buffer.byteLength(output.text) > MAX_OUTPUT)
      output.fault = { reason: 'too_large', msg: 'the rendered text is larger than 1 MiB' };
  } catch (error) {
    if (!(error instanceof RenderStop))
      output.fault = { reason: 'failed', msg: output.placed('a value cannot be written as text') };
  }
  return output;
}

/** Lists and maps with more than so many characters: the texts of a run name the same ones again and again. */
const heavy = new WeakMap<object, number>();

/** Whether a list or map has more than so many characters. */
function isHeavier(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ((heavy.get(value) ?? -1) >= most) return true;
  const isSo = holdsMore(value, most);
  if (isSo) heavy.set(value, most);
  return isSo;
}

/** Looks at no more than so many. */
function holdsMore(value: object, most: number): boolean {
  const open: unknown[] = [value];
  let left = most;
  while (open.length > 0 && left >= 0) {
    const one = open.pop();
    left -= VALUE_CHARS;
    if (typeof one === 'string') left -= one.length;
    else if (Array.isArray(one)) {
      if (one.length * VALUE_CHARS > left) return true;
      for (const part of one) open.push(part);
    } else if (typeof one === 'object' && one !== null)
      for (const [key, part] of Object.entries(one)) {
        left -= key.length;
        open.push(part);
      }
  }
  return left < 0;
}

/** Text as it is, numbers and booleans as written, lists and maps as JSON, nothing for null. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null || typeof value === 'function' || typeof value === 'symbol') return '';
  return typeof value === 'object' ? (JSON.stringify(value) ?? '') : String(value);
}

/** Follows a path of own properties; the members of the context's `steps` also answer to `_` for `-`. */
export function follow(start: unknown, parts: readonly string[], root: unknown): unknown {
  const steps = ownValue(root, 'steps');
  let value = start;
  for (const part of parts) {
    value = value === steps ? stepValue(value, part) : ownValue(value, part);
    if (value === undefined) return undefined;
  }
  return value;
}

/** Empty as Handlebars defines it: also 0, the empty string and the empty list. */
export function isEmpty(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}
