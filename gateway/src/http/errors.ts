import { AppError, errorBody, ERROR_STATUS, plainIssues } from '@signalbox/crds';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

export const BODY_LIMIT = 2 * 1024 * 1024;
export const NO_JSON = 'the body must be JSON (content-type application/json)';
/** Of a wrong value that is shown again. */
export const MAX_VALUE_CHARS = 200;
const MAX_PROBLEMS = 20;

export type OnBug = (error: unknown, request: { method: string; route: string }) => void;

type Scalar = string | number | boolean | null;

/** One validation error item (Gateway 2). */
const problem = (about: { message: string; agent?: string; field?: string; value?: Scalar }) => ({
  agent: '',
  field: '',
  value: null,
  ...about,
  severity: 'error' as const,
});

export function invalid(message: string, errors = [problem({ message })]): AppError {
  return new AppError('validation', message, { extra: { errors } });
}

/** The envelope of a request that cannot be read. */
export const invalidBody = (message: string) => errorBody('validation', message, { errors: [problem({ message })] });

/** Answers any error in the one envelope (Gateway 7). */
export function createErrorHandler(onBug: OnBug) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const known = knownError(error, request);
    if (!known) {
      onBug(error, { method: request.method, route: request.routeOptions.url ?? '' });
      return reply.code(500).send(errorBody('internal', 'the request failed inside the gateway'));
    }
    const { type, message, extra } = known.error;
    if (type === 'unauthorized') reply.header('www-authenticate', 'Bearer');
    return reply.code(known.status).send(errorBody(type, message, extra));
  };
}

function knownError(error: unknown, request: FastifyRequest): { error: AppError; status: number } | null {
  if (error instanceof AppError) return { error, status: ERROR_STATUS[error.type] };
  if (error instanceof z.ZodError) return { error: bodyError(error, request), status: 400 };
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null;
  if (status === 413) return { error: invalid(`the body is larger than ${BODY_LIMIT} bytes`), status };
  const isRefusal = typeof status === 'number' && status >= 400 && status < 500;
  return isRefusal ? { error: invalid(NO_JSON), status: 400 } : null;
}

function bodyError({ issues }: z.ZodError, { body, params }: FastifyRequest): AppError {
  const agent = String(scalarAt(params, ['name']) ?? scalarAt(body, ['name']) ?? '');
  const errors = plainIssues(issues)
    .slice(0, MAX_PROBLEMS)
    .map(({ path, msg, unknownKey }) =>
      problem({
        agent,
        field: path.map(String).join('.').slice(0, MAX_VALUE_CHARS),
        value: unknownKey ? null : (scalarAt(body, path) ?? scalarAt(params, path)),
        message: msg,
      }),
    );
  return invalid(`${errors[0]?.field || 'body'}: ${errors[0]?.message ?? 'not valid'}`, errors);
}

function scalarAt(body: unknown, path: readonly PropertyKey[]): Scalar {
  let at = body;
  for (const key of path)
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : null;
  if (typeof at === 'string') return at.slice(0, MAX_VALUE_CHARS);
  return typeof at === 'number' || typeof at === 'boolean' ? at : null;
}
