/** What a run concluded and proposes: of its last step that proposes an action, else of the last one whose agent answered. */
export interface RunResult {
  stepName: string;
  conclusion: string;
  actions: ProposedAction[];
  /** Of its gate. */
  trust: number | null;
  threshold: number | null;
}

/** An output of that step, as text. */
export interface ProposedAction {
  name: string;
  value: string;
}

const MAX_ACTIONS = 3;
const MAX_LENGTH = 200;

/** Outputs that propose what to do, by the names that schemas give them. */
const PROPOSES =
  /^(?:(?:proposed|recommended|suggested|next)_(?:actions?|steps?|fix)|actions?|remediations?|recommendations?|fix)$/i;
/** The same in the title that a schema gives a property: "Recommended action", "Next step". */
const TITLED = /\b(?:actions?|remediations?|recommendations?|next steps?|fix)\b/i;

/** What the `output_schema` of a step says of its outputs. */
export interface DeclaredOutputs {
  required: readonly string[];
  /** Properties whose title says that they propose an action. */
  actions: readonly string[];
}

export const NOTHING_DECLARED: DeclaredOutputs = { required: [], actions: [] };

export function declaredOutputs(schema: unknown): DeclaredOutputs {
  const { required, properties } = (schema ?? {}) as { required?: unknown; properties?: unknown };
  return {
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
    actions: Object.entries((properties ?? {}) as Record<string, { title?: unknown } | boolean | null>)
      .filter(([, property]) => typeof property === 'object' && TITLED.test(String(property?.title ?? '')))
      .map(([name]) => name),
  };
}

export interface ShownOutputs {
  actions: ProposedAction[];
  /** Whether one of them proposes an action, by its title or its name. */
  proposes: boolean;
}

/**
 * The outputs that stand beside a conclusion, at most three: first those that propose an action, by the title in the schema or by
 * their name, then what the schema requires; both in the order in which the schema requires them. Values that are no text, number or
 * list of those are left out.
 */
export function actionsIn(output: unknown, { required, actions }: DeclaredOutputs = NOTHING_DECLARED): ShownOutputs {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return { actions: [], proposes: false };
  const given = new Map(
    Object.entries(output).flatMap(([name, value]) => {
      const text = textOf(value);
      return text === '' ? [] : [[name, shortened(text)] as const];
    }),
  );
  const ordered = [...new Set([...required, ...given.keys()])].filter((name) => given.has(name));
  const proposing = ordered.filter((name) => actions.includes(name) || PROPOSES.test(name));
  const others = ordered.filter((name) => required.includes(name) && !proposing.includes(name));
  return {
    actions: [...proposing, ...others].slice(0, MAX_ACTIONS).map((name) => ({ name, value: given.get(name) ?? '' })),
    proposes: proposing.length > 0,
  };
}

const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

function textOf(value: unknown): string {
  const values = [value].flat();
  return values.every(isPlain) ? values.map(String).join('; ').trim() : '';
}

function shortened(text: string): string {
  const characters = Array.from(text.slice(0, 2 * MAX_LENGTH + 2));
  return characters.length <= MAX_LENGTH ? text : `${characters.slice(0, MAX_LENGTH - 1).join('')}…`;
}
