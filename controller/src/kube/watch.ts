import { type KubeConfig, Watch } from '@kubernetes/client-node';
import { type Refusal, refusalOf } from './answer.ts';

export interface WatchEvent {
  type: string;
  object?: { metadata?: { resourceVersion?: string }; code?: number; message?: string };
}

export interface WatchRequest {
  path: string;
  query: Record<string, string | number | boolean | undefined>;
  signal: AbortSignal;
  saw(event: WatchEvent): void;
}

/** Settles when the watch has ended, through the server or the signal; never rejects. */
export type WatchCall = (request: WatchRequest) => Promise<{ ok: true } | Refusal>;

/** The client's Watch ignores what its callback throws, and has no signal. */
export function createWatch(config: KubeConfig): WatchCall {
  const client = new Watch(config);
  return ({ path, query, signal, saw }) =>
    new Promise((resolve) => {
      let request: AbortController | null = null;
      let ended = false;
      const end = (outcome: { ok: true } | Refusal) => {
        if (ended) return;
        ended = true;
        signal.removeEventListener('abort', stop);
        request?.abort();
        resolve(outcome);
      };
      const stop = () => end({ ok: true });
      const tell = (type: string, object: WatchEvent['object']) => {
        if (ended) return;
        try {
          saw({ type, ...(object ? { object } : {}) });
        } catch (error) {
          end(refusalOf(error));
        }
      };
      const done = (error: unknown) => end(error ? refusalOf(error) : { ok: true });
      signal.addEventListener('abort', stop);
      if (signal.aborted) return stop();
      client.watch(path, query, tell, done).then((opened) => {
        request = opened;
        if (ended) opened.abort();
      }, done);
    });
}
