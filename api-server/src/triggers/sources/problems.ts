import { issueWords } from '@signalbox/crds';
import type { z } from 'zod';
import type { Parsed } from './source.ts';

/** A refused payload, with the place of each problem. */
export function refused(source: string, error: z.ZodError): Parsed {
  const errors = error.issues.map((issue) => ({
    loc: ['body', ...issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))],
    msg: issueWords(issue),
  }));
  const first = errors[0];
  return { ok: false, message: `no payload of ${source}: ${first?.loc.join('.')}: ${first?.msg}`, errors };
}
