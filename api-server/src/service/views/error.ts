import { ERROR_STATUS, type ErrorBody, type ErrorType } from '@signalbox/crds';
import { z } from 'zod';
import { component } from './answer.ts';

const TYPES = Object.keys(ERROR_STATUS) as [ErrorType, ...ErrorType[]];

/** What each refusal says, with the keys that some carry beside type and message. */
export const ERROR_EXAMPLES: { [T in ErrorType]: ErrorBody['detail'] & { type: T } } = {
  unauthorized: { type: 'unauthorized', message: 'send a token: Authorization: Bearer TOKEN' },
  forbidden: { type: 'forbidden', message: 'the token has the role viewer; this needs operator' },
  validation: {
    type: 'validation',
    message: 'query.limit: must be at most 200',
    errors: [{ loc: ['query', 'limit'], msg: 'must be at most 200' }],
  },
  not_found: { type: 'not_found', message: 'there is no run with this id' },
  collision: { type: 'collision', message: 'a pipeline with this name exists' },
  reload_failed: { type: 'reload_failed', message: 'the definitions cannot be read' },
  no_pipeline: { type: 'no_pipeline', message: 'no pipeline matches the labels of the alert' },
  at_capacity: { type: 'at_capacity', message: '10 of 10 runs are active' },
  too_large: { type: 'too_large', message: 'the body is larger than server.max_body_bytes' },
  managed: {
    type: 'managed',
    message: 'the pipeline comes from a Kubernetes object',
    managed_by: { kind: 'Pipeline', namespace: 'shop', name: 'checkout-errors' },
  },
  conflict: { type: 'conflict', message: 'the run has not ended; cancel it first' },
  unprocessable: {
    type: 'unprocessable',
    message: 'body.readiness: is required',
    errors: [{ loc: ['body', 'readiness'], msg: 'is required' }],
  },
  rate_limited: { type: 'rate_limited', message: 'too many streams are open; try again later' },
  unavailable: { type: 'unavailable', message: 'the database does not answer; try again' },
  internal: { type: 'internal', message: 'internal error; the log of the service has the details' },
};

/** The envelope of every refusal (Orchestration 7); some types carry more keys beside `type` and `message`. */
export const ErrorAnswer = component(
  'Error',
  z.looseObject({ detail: z.looseObject({ type: z.enum(TYPES), message: z.string() }) }),
  { detail: ERROR_EXAMPLES.validation },
);
