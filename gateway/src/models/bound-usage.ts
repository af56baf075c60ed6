import { parsedWhere } from './parsed-where.ts';

/** Of one answer, which has most often one. */
const MAX_EVENTS = 100;
/** What one of them says. */
const MAX_KEYS = 100;

interface MessageDelta {
  type?: unknown;
  usage?: { iterations?: unknown } | null;
}

/** For Anthropic's SDK, which adds the usage of each such event to that of all before, and goes through its iterations with each end of a message. */
export const boundUsage = () => {
  let events = 0;
  return (data: string) => {
    const event = parsedWhere(/message_delta/, data) as MessageDelta | null;
    if (event?.type !== 'message_delta') return;
    events += 1;
    const { usage } = event;
    const { length } = Object.keys(Object(usage));
    const iterations = Array.isArray(usage?.iterations) ? usage.iterations.length : 0;
    if (events > MAX_EVENTS || length > MAX_KEYS || iterations > MAX_KEYS)
      throw new Error('the provider sent more about usage than there is to say');
  };
};
