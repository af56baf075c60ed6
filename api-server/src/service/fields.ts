import { AppError, NAME_PATTERN } from '@signalbox/crds';
import { z } from 'zod';

const CONTROL = /[\u0000-\u001f\u007f]/;

/** Text of a filter or a name: one line, bounded. */
export const line = (max = 256) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((value) => !CONTROL.test(value), 'must not contain control characters');

export const RunId = z.uuid('must be a run id');

/** Text of several lines, bounded. */
export const freeText = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !text.includes('\0'), 'must not contain NUL characters');

/** Free text that may be left out; null where it is empty. */
export const note = (max: number) =>
  freeText(max)
    .nullish()
    .transform((text) => text || null);

type Noun = 'run' | 'approval' | 'golden set' | 'member' | 'regression' | 'replay';
/** An id in a path: a malformed id gets the same answer as an unknown one. */
export const idOf = (noun: Noun) =>
  z
    .string()
    .meta({ format: 'uuid' })
    .transform((text) => {
      if (!z.uuid().safeParse(text).success) throw unknownId(noun);
      return text;
    });
export const unknownId = (noun: Noun) => new AppError('not_found', `there is no ${noun} with this id`);

export const DefinitionName = z.string().regex(NAME_PATTERN, 'must match [a-zA-Z0-9][a-zA-Z0-9_-]{0,63}');
/** The name of an executed step; a fan-out branch is `step/index`. */
export const StepName = line(160);

/** An integer in a query. */
export const count = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max));

/** ISO 8601 to milliseconds; a date alone is its midnight in UTC. */
export const Instant = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], 'must be an ISO 8601 time')
  .transform((text) => Date.parse(text));
