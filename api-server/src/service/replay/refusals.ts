import { AppError } from '@signalbox/crds';

/** 422 with the standard detail (Orchestration 7). */
export function badField(loc: (string | number)[], msg: string): AppError {
  return new AppError('unprocessable', `${loc.join('.')}: ${msg}`, { extra: { errors: [{ loc, msg }] } });
}
