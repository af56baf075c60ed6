import { holdsMore, nestsDeeper, valuesIn } from '@signalbox/crds';

/** Twice the size and depth, and as many values, as a definition may have: such a body is refused in any form. */
const TOO_LARGE = 512 * 1024;
const TOO_MANY_VALUES = 10_000;
const TOO_DEEP = 128;

/** The JSON text of a body; null where it cannot be a definition, however it is written. */
export function definitionJson(value: unknown): string | null {
  // Before the text, which a deep value has none of.
  if (holdsMore(value, TOO_MANY_VALUES) || nestsDeeper(value, TOO_DEEP)) return null;
  const json = JSON.stringify(value);
  return json.length > TOO_LARGE ? null : json;
}

const OTHER_THAN_LATIN_1 = /[^\0-\xff]/;
const BYTES_A_VALUE = 60;
const BYTES_AN_OBJECT = 1024;

/** What a spec takes in memory as a JSON text, in bytes, with a part of what its object and its values do. */
export const inMemory = (json: string): number =>
  BYTES_AN_OBJECT + json.length * (OTHER_THAN_LATIN_1.test(json) ? 2 : 1) + BYTES_A_VALUE * valuesIn(json);

export const TOO_LARGE_SPEC = `is larger than a definition may be: ${TOO_LARGE / 1024} KiB with the instructions of an agent, ${TOO_MANY_VALUES} values, ${TOO_DEEP} levels`;

/** More than a status holds, and than an accepted body does with its library steps written out. */
export const MAX_STATUS_VALUES = 60_000;

export const isSoundStatus = (value: unknown): boolean =>
  !holdsMore(value, MAX_STATUS_VALUES) && !nestsDeeper(value, TOO_DEEP);
