import type { DefinitionKind } from '@signalbox/crds';
import { stringify } from 'yaml';
import { definitionJson } from '../objects/definition-size.ts';

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

/** The definition file of a body: `name` comes first, and the `soul` of an agent is a file of its own. */
export function definitionOf(kind: DefinitionKind, body: Body): WrittenDefinition {
  const { name, soul, ...rest } = body;
  const isAgent = kind === 'Agent';
  const value = { name, ...rest, ...(isAgent || soul === undefined ? {} : { soul }) };
  return {
    value,
    ...(isAgent ? { soul: typeof soul === 'string' ? soul : '' } : {}),
    get text() {
      // To format what is refused anyway takes a second.
      if (definitionJson(value) === null) return JSON.stringify(value);
      return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
    },
  };
}
