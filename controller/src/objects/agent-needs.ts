import { isName, PodFields } from '@signalbox/crds';

type PodField = keyof PodFields;

/** What of the body of an agent its namespace needs rights for, without the values. */
export interface AgentNeeds {
  name: string | undefined;
  runtime: Partial<Record<PodField, true>>;
}

/** Of an agent of which nothing is known: the empty name is only allowed where every name is. */
export const EVERY_NEED: AgentNeeds = {
  name: '',
  runtime: Object.fromEntries(PodFields.keyof().options.map((field) => [field, true])),
};

/** Also of a body that is no agent any more. */
export function agentNeeds(body: Readonly<Record<string, unknown>>): AgentNeeds {
  const { name, runtime } = body;
  const given = typeof runtime === 'object' && runtime !== null ? runtime : {};
  const fields = PodFields.keyof().options.filter((field) => Object.hasOwn(given, field));
  return {
    name: isName(name) ? name : undefined,
    runtime: Object.fromEntries(fields.map((field) => [field, true])),
  };
}
