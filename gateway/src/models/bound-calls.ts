import { parsedWhere } from './parsed-where.ts';

/** Of one event; a run makes 32 calls in a turn. */
const MAX_IN_EVENT = 256;
/** Of one answer, which says a few tokens of a call in each. */
const MAX_IN_ANSWER = 250_000;

interface ChatEvent {
  choices?: ({ delta?: { tool_calls?: unknown } | null } | null)[] | null;
}

/** For the SDKs of Chat Completions, which look through all calls of an answer with each piece of one. */
export const boundCalls = () => {
  let pieces = 0;
  return (data: string) => {
    const event = parsedWhere(/tool_calls/, data) as ChatEvent | null;
    const calls = event?.choices?.[0]?.delta?.tool_calls;
    if (!Array.isArray(calls)) return;
    pieces += calls.length;
    if (calls.length > MAX_IN_EVENT)
      throw new Error(`the provider sent more than ${MAX_IN_EVENT} pieces of tool calls in one event`);
    if (pieces > MAX_IN_ANSWER) throw new Error(`the provider sent more than ${MAX_IN_ANSWER} pieces of tool calls`);
  };
};
