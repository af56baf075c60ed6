import { z } from 'zod';
import type { FieldError } from '../../definitions/candidate.ts';
import { AnyObject, component } from './answer.ts';

const NOTE = 'pipeline "checkout-errors" is live, but nothing was committed';
const config = AnyObject.nullable();
/** The service never writes to version control (Orchestration 4.5). */
const committed = z.literal(false);

export const Written = component('Written', z.strictObject({ config, committed, note: z.string() }), {
  config: { name: 'checkout-errors' },
  committed: false,
  note: NOTE,
});
export interface Written {
  /** As the contract reads it; null where nothing is left of it. */
  config: object | null;
  committed: false;
  note: string;
}

export const Suspended = component(
  'Suspended',
  z.strictObject({ config, suspended: z.boolean(), committed, note: z.string() }),
  { config: { name: 'checkout-errors' }, suspended: true, committed: false, note: NOTE },
);
export interface Suspended extends Written {
  suspended: boolean;
}

export const Deleted = component(
  'Deleted',
  z.strictObject({ deleted: z.string(), yaml: z.string(), committed, note: z.string() }),
  { deleted: 'checkout-errors', yaml: 'name: checkout-errors\n', committed: false, note: NOTE },
);
export type Deleted = z.infer<typeof Deleted>;

const Located = z.looseObject({
  loc: z.array(z.union([z.string(), z.number()])),
  msg: z.string(),
  /** Place in the text, from one; absent where it has none. */
  line: z.number().optional(),
  col: z.number().optional(),
});

export const Validation = component(
  'Validation',
  z.strictObject({
    valid: z.boolean(),
    errors: z.array(Located),
    /** What a definition may be written with, but probably should not. */
    warnings: z.array(Located),
  }),
  { valid: false, errors: [{ loc: ['steps', 0, 'agent'], msg: 'is required', line: 4, col: 5 }], warnings: [] },
);
export interface Validation {
  valid: boolean;
  errors: FieldError[];
  warnings: FieldError[];
}
