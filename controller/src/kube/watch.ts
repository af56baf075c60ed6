import { HttpMethod, type KubeConfig, RequestContext } from '@kubernetes/client-node';
import { request } from 'undici';
import { AnswerTooLarge, type Refusal, refusalOf } from './answer.ts';
import { withoutLargeParts } from './large-parts.ts';

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

/** Several times what one object may have. */
const MAX_LINE = 8 * 1024 * 1024;

/** The client's Watch parses an event of any size, ignores what its callback throws, and has no signal. */
export function createWatch(config: KubeConfig): WatchCall {
  return async ({ path, query, signal, saw }) => {
    try {
      const { statusCode, body } = await open(config, urlOf(config, path, query), signal);
      if (statusCode !== 200) {
        await body.dump();
        return { ok: false, status: statusCode, message: `answered ${statusCode}` };
      }
      for await (const line of linesOf(body)) {
        if (signal.aborted) break;
        saw(JSON.parse(withoutLargeParts(line)) as WatchEvent);
      }
      return { ok: true };
    } catch (error) {
      return signal.aborted ? { ok: true } : refusalOf(error);
    }
  };
}

function urlOf(config: KubeConfig, path: string, query: WatchRequest['query']): string {
  const url = new URL(`${config.getCurrentCluster()?.server ?? ''}${path}`);
  for (const [key, value] of Object.entries({ watch: true, ...query }))
    if (value !== undefined) url.searchParams.set(key, String(value));
  return url.href;
}

async function open(config: KubeConfig, url: string, signal: AbortSignal) {
  const prepared = new RequestContext(url, HttpMethod.GET);
  await config.applySecurityAuthentication(prepared);
  return request(url, { headers: prepared.getHeaders(), dispatcher: prepared.getDispatcher(), signal });
}

/** Complete lines only: the last one of a broken connection is no event. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, end)]).toString();
      parts = [];
      size = 0;
      from = end + 1;
      if (line !== '') yield line;
    }
    if (from === chunk.length) continue;
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_LINE) throw new AnswerTooLarge(`an event is larger than ${MAX_LINE} bytes`);
  }
}

const NEWLINE = 10;
