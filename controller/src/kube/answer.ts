import {
  ApiException,
  type ConfigurationOptions,
  Observable,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';

/** Refusals carry the HTTP status; 0 stands for a server that could not be reached or whose answer broke off. */
export type KubeAnswer<Body = unknown> = { ok: true; body: Body } | Refusal;
export interface Refusal {
  ok: false;
  status: number;
  message: string;
}

/** Whether the API server may be down, restart or ask for patience, which is no judgement of the request. */
export const isUnavailable = ({ status }: Refusal): boolean => status === 0 || status === 429 || status >= 500;

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

/** Ends a call with the signal. */
export const abortedBy = (signal: AbortSignal): ConfigurationOptions => ({
  middlewareMergeStrategy: 'append',
  middleware: [
    {
      pre: (request) => {
        request.setSignal(AbortSignal.any([signal, request.getSignal() ?? signal]));
        return new Observable(Promise.resolve(request));
      },
      post: (response) => new Observable(Promise.resolve(response)),
    },
  ],
});

export const JSON_PATCH = setHeaderOptions('Content-Type', PatchStrategy.JsonPatch);
export const SERVER_SIDE_APPLY = setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply);
