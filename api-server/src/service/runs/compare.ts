import { createRest } from '@signalbox/crds/process/rest';
import { unifiedDiff } from '../../analytics/text-diff.ts';
import type { Comparison, StepComparison } from '../views/comparison.ts';
import type { RunLine } from '../views/run.ts';
import type { StepDetail } from '../views/step.ts';

/** Of one answer; what is longer is compared up to here. */
const MOST_CHARS = 64 * 1024;
/** The time of a diff grows with their square: this many are found within 20 ms. */
const MOST_CHANGES = 300;
/** Of all diffs of one comparison; from then on both texts stand whole, one after the other. */
const MOST_MS = 1000;

export interface Compared {
  line: RunLine;
  steps: StepDetail[];
}

type Pair = Pick<StepComparison, 'step_name' | 'a' | 'b'>;

/** Compares two runs step by step, the steps being matched by their names. Between two steps other work has its turn. */
export async function compare(a: Compared, b: Compared): Promise<Comparison> {
  const steps: StepComparison[] = [];
  const rest = createRest();
  let left = MOST_MS;
  for (const pair of pairs(a.steps, b.steps)) {
    const began = performance.now();
    const output_diff = outputDiff(pair, left > 0 ? MOST_CHANGES : 0);
    left -= performance.now() - began;
    steps.push({ ...pair, ...deltas(pair), output_diff });
    await rest();
  }
  return { runs: [a.line, b.line], steps };
}

function pairs(ofA: readonly StepDetail[], ofB: readonly StepDetail[]): Pair[] {
  const named = new Map<string, Pair>(ofA.map((a) => [a.step_name, { step_name: a.step_name, a, b: null }]));
  for (const b of ofB) named.set(b.step_name, { step_name: b.step_name, a: named.get(b.step_name)?.a ?? null, b });
  const place = ({ a, b }: Pair): number => (b ?? a)?.step_index ?? 0;
  return [...named.values()].toSorted((one, other) => place(one) - place(other));
}

function deltas({ a, b }: Pair) {
  return {
    same_prompt: same(a?.prompt_hash, b?.prompt_hash),
    same_agent_version: same(a?.agent_version, b?.agent_version),
    trust_delta: difference(trustOf(a), trustOf(b)),
    cost_delta: difference(a?.cost, b?.cost),
    duration_delta: difference(a?.duration_seconds, b?.duration_seconds),
  };
}

/** What the gate decided on. */
const trustOf = (step: StepDetail | null) => step?.trust_report?.trust ?? step?.effective_confidence;

type Known<T> = T | null | undefined;
const isKnown = <T>(value: Known<T>): value is T => value !== null && value !== undefined;
const same = (a: Known<string>, b: Known<string>): boolean | null => (isKnown(a) && isKnown(b) ? a === b : null);
/** Without the tail of binary fractions: 0.8 to 0.9 is 0.1. */
const difference = (a: Known<number>, b: Known<number>): number | null =>
  isKnown(a) && isKnown(b) ? Number((b - a).toFixed(9)) : null;

function outputDiff({ a, b }: Pair, mostChanges: number): string | null {
  const [before, after] = [answerOf(a), answerOf(b)];
  if (before === null || after === null) return null;
  return before === after ? '' : unifiedDiff({ name: 'a', text: before }, { name: 'b', text: after }, mostChanges);
}

/** The summary and the output as one text whose lines do not depend on the order of keys; null for a step without an answer. */
function answerOf(step: StepDetail | null): string | null {
  if (step === null || (step.summary === null && step.output === null)) return null;
  const text = JSON.stringify(shown({ summary: step.summary, ...step.output }, { left: MOST_CHARS }), null, INDENT);
  return text.length > MOST_CHARS
    ? `${text.slice(0, MOST_CHARS)}\n… not compared beyond ${MOST_CHARS} characters`
    : text;
}

const INDENT = 2;

/** The value with its keys sorted, and no more of it than is compared: a list that lies deep is indented to a hundred times its size. */
function shown(value: unknown, room: { left: number }, indent = INDENT): unknown {
  if (typeof value === 'string') room.left -= value.length;
  if (typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  const some: [string | number, unknown][] = [];
  for (const [key, child] of isList ? value.entries() : Object.entries(value).toSorted(byKey)) {
    if (room.left < 0) break;
    room.left -= indent + (typeof key === 'string' ? key.length : 1);
    some.push([key, shown(child, room, indent + INDENT)]);
  }
  return isList ? some.map(([, child]) => child) : Object.fromEntries(some);
}

const byKey = ([one]: [string, unknown], [other]: [string, unknown]): number => (one < other ? -1 : 1);
