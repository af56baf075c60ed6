import { BrokenAnswer } from './failure.ts';
import { parsedWhere } from './parsed-where.ts';

/** Of one call; an answer says that it goes on in another one as often. */
const MAX_REQUESTS = 4;
const TOO_MANY = `the provider's answer goes on after ${MAX_REQUESTS} requests`;

interface GoogleEvent {
  candidates?: ({ finishReason?: unknown } | null)[] | null;
}

/** Google's SDK asks for the rest of an answer as often as the provider says that there is more of it. */
export function boundContinuations(inner: typeof fetch): typeof fetch {
  const asked = new WeakMap<AbortSignal, number>();
  return (input, init) => {
    const signal = init?.signal;
    const requests = signal ? (asked.get(signal) ?? 0) + 1 : 1;
    if (requests > MAX_REQUESTS) throw new BrokenAnswer(TOO_MANY, false);
    if (signal) asked.set(signal, requests);
    return inner(input, init);
  };
}

/** It adds up all details of usage with each event that says so. */
export const boundContinuationEvents = () => {
  let events = 0;
  return (data: string) => {
    const event = parsedWhere(/CONTINUATION/, data) as GoogleEvent | null;
    const reason = event?.candidates?.[0]?.finishReason;
    if (reason === 'CONTINUATION') events += 1;
    if (events > MAX_REQUESTS) throw new BrokenAnswer(TOO_MANY, false);
  };
};
