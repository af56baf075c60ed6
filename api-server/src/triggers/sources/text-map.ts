import { z } from 'zod';

const isText = (value: unknown): boolean => value === null || ['string', 'number', 'boolean'].includes(typeof value);

/**
 * A map of few values without parts, as they are. Looked at before a schema reads it, which would describe each wrong value of a map of any
 * size.
 */
export const flatMap = (mostKeys: number, key = z.string()) =>
  z.preprocess(
    (value, context) => {
      const msg = problemOf(value, mostKeys);
      if (msg === null) return value;
      context.addIssue({ code: 'custom', message: msg, input: value });
      return z.NEVER;
    },
    z.record(key, z.union([z.string(), z.number(), z.boolean(), z.null()])),
  );

/** The same of texts; Alertmanager says numbers and booleans as strings, other senders do not. */
export const textMap = (mostKeys: number) =>
  flatMap(mostKeys).transform((map) =>
    Object.fromEntries(Object.entries(map).map(([key, one]) => [key, String(one ?? '')])),
  );

function problemOf(value: unknown, mostKeys: number): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const entries = Object.entries(value);
  if (entries.length > mostKeys) return `has more than ${mostKeys} keys`;
  const wrong = entries.find(([, one]) => !isText(one));
  return wrong === undefined ? null : `has no text under ${JSON.stringify(wrong[0].slice(0, 100))}`;
}
