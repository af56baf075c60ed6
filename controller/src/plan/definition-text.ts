import type { DefinitionKind } from '@signalbox/crds';
import { stringify } from 'yaml';

export type Body = Record<string, unknown>;

/** What a service reads: the text of the definition, and the instructions of an agent. */
export interface DefinitionText {
  text: string;
  soul?: string;
}

/** Twice the size that a definition may have: such a text is refused in any form, so it need not be formatted. */
const SURELY_TOO_LARGE = 512 * 1024;

/** The definition file of a body: `name` comes first, and the `soul` of an agent is a file of its own. */
export function bodyText(kind: DefinitionKind, body: Body): DefinitionText {
  const { name, soul, ...rest } = body;
  const isAgent = kind === 'Agent';
  const written = { name, ...rest, ...(isAgent || soul === undefined ? {} : { soul }) };
  const json = JSON.stringify(written);
  const text =
    json.length > SURELY_TOO_LARGE ? json : stringify(written, { lineWidth: 0, aliasDuplicateObjects: false });
  return isAgent ? { text, soul: typeof soul === 'string' ? soul : '' } : { text };
}
