import { AppError, ERROR_STATUS, type ErrorType } from '@signalbox/crds';
import { sentence } from './format.ts';

/** Null for `not_found`, for pages that have their own message. */
export function unlessUnknown(error: unknown): null {
  if (error instanceof AppError && error.type === 'not_found') return null;
  throw error;
}

/** Ignores `conflict`: the run has ended already. */
export function unlessConflict(error: unknown): void {
  if (!(error instanceof AppError) || error.type !== 'conflict') throw error;
}

const TITLES: Partial<Record<ErrorType, string>> = {
  not_found: 'This does not exist',
  forbidden: 'This is not allowed',
  conflict: 'This is not possible now',
  validation: 'This request is not valid',
  at_capacity: 'No free slot for this run',
  rate_limited: 'Too many requests at once',
  too_large: 'This is too large',
  unprocessable: 'This request is not valid',
  unavailable: 'The service cannot answer now',
};

/** The refusal of a use case as a problem page. */
export const problemOf = ({ type, message }: AppError) => ({
  status: ERROR_STATUS[type],
  title: TITLES[type] ?? 'This request cannot be answered',
  text: sentence(message),
});
