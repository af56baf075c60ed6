import { AppError, ERROR_STATUS, errorBody, type ErrorBody, type ErrorType, plainIssues } from '@signalbox/crds';
import { z } from 'zod';
import { NoRoom } from '../service/reading/reading-room.ts';
import { AtCapacity } from '../service/deliveries/at-capacity.ts';

/** The envelope has no type for 405; it is reported as `validation`. */
export class MethodNotAllowed extends AppError {
  constructor(message: string) {
    super('validation', message);
  }
}

/** `ours`: the caller did not cause the failure, so it is logged as an error. */
export interface Answer {
  status: number;
  body: ErrorBody;
  ours: boolean;
  retryAfterSeconds?: number;
}

/** Converts every thrown error into the envelope (Orchestration 7). Details of an unexpected error are never sent. */
export function toAnswer(error: unknown): Answer {
  if (error instanceof MethodNotAllowed) return answer('validation', error.message, { status: 405 });
  if (error instanceof AtCapacity) return full(error);
  if (error instanceof AppError) return refused(error);
  if (error instanceof z.ZodError) return invalid(error, []);
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  const known = typeof code === 'string' ? FRAMEWORK[code] : undefined;
  if (known) return answer(known.type, known.message, known);
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return answer('validation', 'the request cannot be read', { status: 400 });
  }
  return answer('internal', 'internal error; the log of the service has the details');
}

function refused(error: AppError): Answer {
  const refusal = answer(error.type, error.message, { extra: error.extra });
  return error instanceof NoRoom ? { ...refusal, retryAfterSeconds: error.retryAfterSeconds } : refusal;
}

/** The load is sent next to the envelope. */
function full({ message, load }: AtCapacity): Answer {
  const { activeRuns, maxConcurrentRuns, retryAfterSeconds } = load;
  const { status, body, ours } = answer('at_capacity', message);
  const beside = { active_runs: activeRuns, max_concurrent_runs: maxConcurrentRuns };
  return { status, body: { ...body, ...beside }, ours, retryAfterSeconds };
}

interface Detail {
  status?: number;
  extra?: Record<string, unknown>;
}

function answer(type: ErrorType, message: string, { status = ERROR_STATUS[type], extra }: Detail = {}): Answer {
  return { status, body: errorBody(type, message, extra), ours: type === 'internal' };
}

/** A zod failure as 400 `validation` with `errors: [{loc, msg}]`; `part` says which part of the request. */
export function invalid(error: z.ZodError, part: string[]): Answer {
  return answer('validation', problemText(error, part), { extra: { errors: problems(error, part) } });
}

export const validationError = (error: z.ZodError, part: string[]) =>
  new AppError('validation', problemText(error, part), { extra: { errors: problems(error, part) } });

/** The same as 422 `unprocessable`, where the requirement asks for that (Orchestration 7). */
export const unprocessable = (error: z.ZodError, part: string[]) =>
  new AppError('unprocessable', problemText(error, part), { extra: { errors: problems(error, part) } });

interface FieldProblem {
  loc: (string | number)[];
  msg: string;
}

const MAX_PROBLEMS = 20;

function problems(error: z.ZodError, part: string[]): FieldProblem[] {
  return plainIssues(error.issues)
    .slice(0, MAX_PROBLEMS)
    .map(({ path, msg }) => ({ loc: [...part, ...path.map(placeOf)], msg }));
}

const placeOf = (key: PropertyKey): string | number => (typeof key === 'number' ? key : String(key).slice(0, 128));

function problemText(error: z.ZodError, part: string[]): string {
  const [first] = problems(error, part);
  return first ? `${first.loc.join('.') || 'request'}: ${first.msg}` : 'the request is not valid';
}

const FRAMEWORK: Record<string, Detail & { type: ErrorType; message: string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { type: 'too_large', message: 'the body is larger than server.max_body_bytes' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { type: 'validation', message: 'send the body as application/json', status: 415 },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { type: 'validation', message: 'Content-Length does not fit the body' },
  FST_ERR_BAD_URL: { type: 'validation', message: 'the address is not valid' },
  FST_ERR_NOT_FOUND: { type: 'not_found', message: 'there is nothing at this address' },
};
