import { parsedWhere } from './parsed-where.ts';

/** Of each kind in one answer. */
const MAX_EVENTS = 1000;
/** Of the sources of a text, and of parts of thoughts. */
const NOTES = ['response.output_text.annotation.added', 'response.reasoning_summary_part.done'];

/** For the SDK of OpenAI's Responses API, which goes through all of these with each text that ends or each thought that begins. */
export const boundNotes = () => {
  const counts = new Map<unknown, number>(NOTES.map((type) => [type, 0]));
  return (data: string) => {
    const event = parsedWhere(/annotation|summary_part/, data) as { type?: unknown } | null;
    const count = counts.get(event?.type);
    if (count === undefined) return;
    counts.set(event?.type, count + 1);
    if (count >= MAX_EVENTS) throw new Error(`the provider sent more than ${MAX_EVENTS} events of one kind`);
  };
};
