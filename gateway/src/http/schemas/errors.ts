import { ObjectReference } from '@signalbox/crds';
import { z } from 'zod';
import { component } from './component.ts';

component('ObjectReference', ObjectReference);

export const ValidationError = component(
  'ValidationError',
  z.object({
    agent: z.string(),
    field: z.string(),
    value: z.unknown(),
    message: z.string(),
    severity: z.enum(['error', 'warning']),
  }),
  { agent: 'triage', field: 'tools', value: 'metrisc', message: 'no such tool server', severity: 'error' },
);

export const ErrorAnswer = component(
  'Error',
  z.object({
    detail: z.object({
      type: z.enum(['unauthorized', 'forbidden', 'validation', 'not_found', 'collision', 'internal']),
      message: z.string(),
      errors: z.array(ValidationError).optional(),
      managed_by: ObjectReference.optional(),
    }),
  }),
  { detail: { type: 'unauthorized', message: 'a bearer token is required' } },
);
