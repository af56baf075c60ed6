import { startOf } from '@signalbox/crds';
import type { Begun } from '../evidence/step-execution.ts';
import type { StepPart } from '../state/step-parts.ts';
import type { Performed } from '../state/step-kind.ts';
import type { Stopped } from '../state/stopped.ts';

/** From when until when, in milliseconds since the epoch. */
export type Times = [startedAt: number, endedAt: number];

/** Notes where time of a step went; it is stored with the end of the step. */
export function notePart(
  { parts, iteration, attempt }: Pick<Begun, 'parts' | 'iteration' | 'attempt'>,
  part: StepPart['part'],
  [startedAt, endedAt]: Times,
  { error, request, unreported }: Partial<Pick<StepPart, 'error' | 'request' | 'unreported'>> = {},
): void {
  parts.push({
    part,
    startedAt,
    endedAt,
    iteration,
    attempt,
    ...(error !== undefined && { error }),
    ...(request && { request }),
    ...(unreported && { unreported }),
  });
}

/** Refusals of a backend that began nothing. */
const NOT_BEGUN = new Set([
  'at_capacity',
  'not_found',
  'unauthorized',
  'forbidden',
  'invalid_params',
  'executor_missing',
]);

/** `stopped`: why the attempt had to end, where it was stopped; the backend does not know. */
export function noteAttempt(begun: Begun, performed: Performed, times: Times, stopped: Stopped | null): void {
  const { executor } = begun.row;
  const asksAgent = executor === 'gateway' || executor === 'external';
  const { request } = performed;
  if (performed.ok) return notePart(begun, 'attempt', times, { request });
  const { type, message, facts } = performed;
  const error = type === 'cancelled' && stopped ? stopped.message : `${type}: ${message}`;
  const unreported = asksAgent && !facts && !NOT_BEGUN.has(type) ? (true as const) : undefined;
  return notePart(begun, 'attempt', times, { error: startOf(error, 500), request, unreported });
}
