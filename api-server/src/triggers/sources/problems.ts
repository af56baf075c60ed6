import { issueWords } from '@signalbox/crds';
import type { z } from 'zod';
import type { Parsed } from './source.ts';

/** What a sender can use; a delivery may have thousands. */
const MAX_ERRORS = 100;

/** A refused payload, with the places of its first problems. */
export function refused(source: string, error: z.ZodError): Parsed {
  const errors = error.issues.slice(0, MAX_ERRORS).map((issue) => ({
    loc: ['body', ...issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))],
    msg: issueWords(issue),
  }));
  const first = errors[0];
  return { ok: false, message: `no payload of ${source}: ${first?.loc.join('.')}: ${first?.msg}`, errors };
}
