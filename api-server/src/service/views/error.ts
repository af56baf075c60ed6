import { ERROR_STATUS, type ErrorType } from '@signalbox/crds';
import { z } from 'zod';
import { component } from './answer.ts';

const TYPES = Object.keys(ERROR_STATUS) as [ErrorType, ...ErrorType[]];

/** The envelope of every refusal (Orchestration 7); some types carry more keys beside `type` and `message`. */
export const ErrorAnswer = component(
  'Error',
  z.looseObject({ detail: z.looseObject({ type: z.enum(TYPES), message: z.string() }) }),
  { detail: { type: 'validation', message: 'query.limit: must be at most 200' } },
);
