import { parsedWhere } from './parsed-where.ts';

/** Of one event; a run makes 32 calls in a turn. */
const MAX_IN_EVENT = 256;
/** Of one answer, which says a few tokens of a call in each. */
const MAX_IN_ANSWER = 250_000;

/** Of the arguments of calls without a name: an SDK keeps them, and reads all of them once the name comes. */
const MAX_NAMELESS_CHARS = 10_000;

interface Piece {
  index?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
}
interface ChatEvent {
  choices?: ({ delta?: { tool_calls?: unknown } | null } | null)[] | null;
}

/** For the SDKs of Chat Completions, which look through all calls of an answer with each piece of one. */
export const boundCalls = () => {
  let pieces = 0;
  let nameless = 0;
  const named = new Set<number>();
  const charsWithoutName = (piece: Piece | null): number => {
    const index = Number(piece?.index ?? 0);
    if (typeof piece?.function?.name === 'string') named.add(index);
    const text = piece?.function?.arguments;
    return typeof text === 'string' && !named.has(index) ? text.length : 0;
  };
  return (data: string) => {
    const event = parsedWhere(/tool_calls/, data) as ChatEvent | null;
    const calls = event?.choices?.[0]?.delta?.tool_calls;
    if (!Array.isArray(calls)) return;
    pieces += calls.length;
    if (calls.length > MAX_IN_EVENT)
      throw new Error(`the provider sent more than ${MAX_IN_EVENT} pieces of tool calls in one event`);
    for (const piece of calls as (Piece | null)[]) nameless += charsWithoutName(piece);
    if (nameless > MAX_NAMELESS_CHARS)
      throw new Error(`the provider sent more than ${MAX_NAMELESS_CHARS} characters of tool calls before their names`);
    if (pieces > MAX_IN_ANSWER) throw new Error(`the provider sent more than ${MAX_IN_ANSWER} pieces of tool calls`);
  };
};
