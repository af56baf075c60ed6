import type { DefinitionKind } from '@signalbox/crds';
import { stringify } from 'yaml';

export type Body = Record<string, unknown>;

/** What a service reads: the text of the definition, and the instructions of an agent. */
export interface DefinitionText {
  /** Formatted at each access, which takes most of a millisecond. */
  readonly text: string;
  soul?: string;
}

/** A definition with the value that its text says. */
export interface WrittenDefinition extends DefinitionText {
  value: Body;
}

/**
 * Twice the size, and as many values, as a definition may have: such a text is refused in any form, so it need not be formatted,
 * which takes a second.
 */
const SURELY_TOO_LARGE = 512 * 1024;
const TOO_MANY_VALUES = 10_000;

function hasTooManyValues(value: unknown): boolean {
  const open: unknown[] = [value];
  for (const one of open) {
    if (open.length > TOO_MANY_VALUES) return true;
    // A list yields what is added to it on the way.
    if (typeof one === 'object' && one !== null) for (const part of Object.values(one)) open.push(part);
  }
  return false;
}

const isSurelyTooLarge = (json: string, value: unknown): boolean =>
  json.length > SURELY_TOO_LARGE || hasTooManyValues(value);

/** The definition file of a body: `name` comes first, and the `soul` of an agent is a file of its own. */
export function definitionOf(kind: DefinitionKind, body: Body): WrittenDefinition {
  const { name, soul, ...rest } = body;
  const isAgent = kind === 'Agent';
  const value = { name, ...rest, ...(isAgent || soul === undefined ? {} : { soul }) };
  return {
    value,
    ...(isAgent ? { soul: typeof soul === 'string' ? soul : '' } : {}),
    get text() {
      const json = JSON.stringify(value);
      return isSurelyTooLarge(json, value) ? json : stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
    },
  };
}
