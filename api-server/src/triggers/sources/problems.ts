import type { z } from 'zod';
import type { Parsed } from './index.ts';

/** A refused payload, with the place of each problem. */
export function refused(source: string, error: z.ZodError): Parsed {
  const errors = error.issues.map(({ path, message }) => ({
    loc: ['body', ...path.map((key) => (typeof key === 'symbol' ? String(key) : key))],
    msg: message,
  }));
  const first = errors[0];
  return { ok: false, message: `not a ${source} payload: ${first?.loc.join('.')}: ${first?.msg}`, errors };
}
