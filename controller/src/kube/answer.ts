import {
  ApiException,
  type ConfigurationOptions,
  Observable,
  PatchStrategy,
  ResponseContext,
  SelfDecodingBody,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { valuesIn } from '@signalbox/crds';
import { withoutLargeParts } from './large-parts.ts';

/** Refusals carry the HTTP status; 0 stands for a server that could not be reached or whose answer broke off. */
export type KubeAnswer<Body = unknown> = { ok: true; body: Body } | Refusal;
export interface Refusal {
  ok: false;
  status: number;
  message: string;
}

const UNAVAILABLE: ReadonlySet<number> = new Set([0, 401, 429, 502, 503, 504]);

/**
 * Whether the API server may be down, restart, ask for patience or not know this process, which is no judgement of the request. 500 is its
 * answer to an object that is too large for etcd, and to one whose admission webhook does not answer.
 */
export const isUnavailable = ({ status }: Refusal): boolean => UNAVAILABLE.has(status);

/** Turns the outcome of a call of the client into a value. */
export async function answerOf<Body>(call: Promise<Body>): Promise<KubeAnswer<Body>> {
  try {
    return { ok: true, body: await call };
  } catch (error) {
    return refusalOf(error);
  }
}

export function refusalOf(error: unknown): Refusal {
  if (error instanceof ApiException)
    return { ok: false, status: error.code, message: messageIn(error.body) ?? `answered ${error.code}` };
  const { message, cause, statusCode } = error as {
    message?: string;
    cause?: { message?: string };
    statusCode?: number;
  };
  return { ok: false, status: statusCode ?? 0, message: cause?.message || message || String(error) };
}

/** The message of a Kubernetes `Status`; a proxy between may have answered with a page of its own. */
function messageIn(body: unknown): string | null {
  try {
    const { message } = (typeof body === 'string' ? JSON.parse(body) : body) as { message?: unknown };
    return typeof message === 'string' ? message : null;
  } catch {
    return null;
  }
}

/** An answer of more bytes or values than are read at once. Its status is the one that HTTP has for it. */
export const ANSWER_TOO_LARGE = 413;
export class AnswerTooLarge extends Error {
  readonly statusCode = ANSWER_TOO_LARGE;
}

/** A body in one piece; throws where it is larger. */
export async function bytesOf(body: AsyncIterable<Uint8Array>, max: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > max) throw new AnswerTooLarge(`the answer is larger than ${max} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/**
 * Ends a call with the signal. Of an answer with more values large parts are left out; one that has more even then is refused, but for one
 * that is the `only` way to read an object, whose size the API server bounds.
 */
export const abortedBy = (signal: AbortSignal, maxValues = Infinity, only = false): ConfigurationOptions => ({
  middlewareMergeStrategy: 'append',
  middleware: [
    {
      pre: (request) => {
        request.setSignal(AbortSignal.any([signal, request.getSignal() ?? signal]));
        return new Observable(Promise.resolve(request));
      },
      post: (response) => new Observable(within(response, { maxValues, only })),
    },
  ],
});

async function within(
  response: ResponseContext,
  { maxValues, only }: { maxValues: number; only: boolean },
): Promise<ResponseContext> {
  if (maxValues === Infinity) return response;
  const { httpStatusCode, headers, body } = response;
  const json = await body.text();
  if (!hasMore(json, maxValues)) return response;
  const rest = withoutLargeParts(json);
  if (!only && hasMore(rest, maxValues)) throw new AnswerTooLarge(`the answer has more than ${maxValues} values`);
  return new ResponseContext(httpStatusCode, headers, new SelfDecodingBody(Promise.resolve(Buffer.from(rest))));
}

const hasMore = (json: string, values: number): boolean => json.length > values && valuesIn(json) > values;

export const JSON_PATCH = setHeaderOptions('Content-Type', PatchStrategy.JsonPatch);
export const SERVER_SIDE_APPLY = setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply);
