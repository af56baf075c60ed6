import type { DefinitionText } from './definition-text.ts';

/** What the services should serve for an object. */
export interface Served extends DefinitionText {
  /** The name of the definition, safe as a file name. */
  name: string;
  /** Hash of the effective body; an agent's version. */
  hash: string;
  from: 'spec' | 'lastAccepted';
  /** The readiness gate keeps it at stage `testing`. */
  held: boolean;
}

/** Makes the definition at each access to its texts, which are asked for only where a file is not as it should be. */
export const servedOf = (make: () => DefinitionText, about: Omit<Served, keyof DefinitionText>): Served => ({
  ...about,
  get text() {
    return make().text;
  },
  get soul() {
    return make().soul;
  },
});
