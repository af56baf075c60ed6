import type { StepPart, TriedRequest } from '../../../../service/views/step.ts';
import { duration, secondsBetween } from '../../format.ts';
import type { ShownStep } from './shown-step.ts';

/** `POST https://… answered 503`. */
export const requestText = ({ method, url, status }: TriedRequest): string =>
  `${method} ${url} ${status === null ? 'got no answer' : `answered ${status}`}`;

/** A status that is no success is the whole error. */
export const whyFailed = ({ request, error = '' }: StepPart): string => (request?.status === null ? error : '');

/** Every request of a webhook step, and of `on_failure.webhook`, in order. */
export const requestRows = ({ raw_response: raw }: Pick<ShownStep, 'raw_response'>) =>
  (raw?.parts ?? []).flatMap((one) => {
    const { part, attempt, request, error, started_at: from, ended_at: to } = one;
    if (request === undefined) return [];
    const failed = error !== undefined;
    return [
      {
        name: part === 'failure_webhook' ? 'on_failure.webhook' : `Attempt ${attempt}`,
        look: failed
          ? { icon: 'failed', word: 'Failed', tone: 'bad' }
          : { icon: 'completed', word: 'OK', tone: 'good' },
        request: requestText(request),
        why: whyFailed(one),
        took: duration(secondsBetween(from, to)),
      },
    ];
  });
