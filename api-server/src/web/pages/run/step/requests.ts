import type { TriedRequest } from '../../../../service/views/step.ts';

/** `POST https://… answered 503`. */
export const requestText = ({ method, url, status }: TriedRequest): string =>
  `${method} ${url} ${status === null ? 'got no answer' : `answered ${status}`}`;
