/** The one error envelope of both services and the HTTP status of each type (Orchestration 7, Gateway 7). */
export const ERROR_STATUS = {
  unauthorized: 401,
  forbidden: 403,
  validation: 400,
  not_found: 404,
  collision: 409,
  reload_failed: 400,
  no_pipeline: 422,
  at_capacity: 429,
  too_large: 413,
  managed: 409,
  conflict: 409,
  unprocessable: 422,
  rate_limited: 429,
  unavailable: 503,
  internal: 500,
} as const;

export type ErrorType = keyof typeof ERROR_STATUS;

export interface ErrorBody {
  detail: { type: ErrorType; message: string; [extra: string]: unknown };
}

/** `{detail: {type, message, ...extra}}`; `extra` never overrides type or message. */
export function errorBody(type: ErrorType, message: string, extra: Record<string, unknown> = {}): ErrorBody {
  return { detail: { ...extra, type, message } };
}

/** For requests that cannot be fulfilled: carries type and message of the error envelope. Expected results are values instead. */
export class AppError extends Error {
  readonly type: ErrorType;
  readonly extra: Record<string, unknown>;

  constructor(type: ErrorType, message: string, options: { cause?: unknown; extra?: Record<string, unknown> } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.type = type;
    this.extra = options.extra ?? {};
  }
}
