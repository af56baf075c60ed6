import { count, duration, money, score, shorten } from '../format.ts';
import type { StatusLook } from '../status.ts';

/** One thing of both runs or steps, and what lies between them. */
export interface Fact {
  label: string;
  a: string;
  b: string;
  delta: string;
  tone: StatusLook['tone'];
  differs: boolean;
}

const NONE = '–';
const MOST_CHARS = 120;

/** A text of both; null where neither has one. */
export function textFact(label: string, a: string | null | undefined, b: string | null | undefined): Fact | null {
  const shown = (text: string | null | undefined) => (text ? shorten(text, MOST_CHARS) : NONE);
  if (!a && !b) return null;
  return { label, a: shown(a), b: shown(b), delta: '', tone: 'quiet', differs: (a ?? null) !== (b ?? null) };
}

export interface Unit {
  write(value: number): string;
  /** The size of a difference, where it is written in another way. */
  apart?(size: number): string;
  /** Which way is good; undefined where neither is. */
  better?: 'more' | 'less';
}

export const TRUST: Unit = { write: (value) => score(value), better: 'more' };
export const TOKENS: Unit = { write: count, better: 'less' };
export const SECONDS: Unit = { write: duration, better: 'less' };
export const moneyIn = (currency: string): Unit => ({ write: (value) => money(value, currency), better: 'less' });

type Known = number | null | undefined;

/** A number of both with the difference; null where neither has one. A number that only one has is not known of the other: no difference. */
export function numberFact(label: string, [a, b]: readonly [Known, Known], unit: Unit): Fact | null {
  const shown = (value: Known) => (value === null || value === undefined ? NONE : unit.write(value));
  if (shown(a) === NONE && shown(b) === NONE) return null;
  const delta = typeof a === 'number' && typeof b === 'number' ? b - a : null;
  const words = delta === null ? '' : signed(delta, unit);
  return {
    label,
    a: shown(a),
    b: shown(b),
    delta: words,
    tone: toneOf(delta, unit),
    differs: delta !== null && shown(a) !== shown(b),
  };
}

/** `+0.12`, `−3.4 s`, `±0` where rounding leaves nothing. */
function signed(delta: number, { write, apart = write }: Unit): string {
  const size = apart(Math.abs(delta));
  return isNothing(size) ? '±0' : `${delta > 0 ? '+' : '−'}${size}`;
}

/** Small amounts of money are written with more digits than none at all. */
const isNothing = (size: string): boolean => !/[1-9]/.test(size);

function toneOf(delta: number | null, { better, write }: Unit): Fact['tone'] {
  if (delta === null || better === undefined || isNothing(write(Math.abs(delta)))) return 'quiet';
  return delta > 0 === (better === 'more') ? 'good' : 'bad';
}

export const known = (facts: readonly (Fact | null)[]): Fact[] => facts.filter((fact) => fact !== null);
