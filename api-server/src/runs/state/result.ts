/** What a run concluded and proposes: of its last step that proposes an action, else of the last one whose agent answered. */
export interface RunResult {
  stepName: string;
  conclusion: string;
  actions: ProposedAction[];
  /** Of its gate. */
  trust: number | null;
  threshold: number | null;
}

/** An output of that step that proposes something to do, as text. */
export interface ProposedAction {
  name: string;
  value: string;
}

const MAX_ACTIONS = 3;
const MAX_LENGTH = 200;

/** Outputs that propose what to do, by the names that schemas give them. */
const PROPOSES =
  /^(?:(?:proposed|recommended|suggested|next)_(?:actions?|steps?|fix)|actions?|remediations?|recommendations?|fix)$/i;

/** The outputs that propose an action, at most three; values that are no text, number or list of those are left out. */
export function actionsIn(output: unknown): ProposedAction[] {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return [];
  return Object.entries(output)
    .filter(([name]) => PROPOSES.test(name))
    .flatMap(([name, value]) => {
      const text = textOf(value);
      return text === '' ? [] : [{ name, value: shortened(text) }];
    })
    .slice(0, MAX_ACTIONS);
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
