import { Agent as HttpAgent, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const NO_BODY = new Set([204, 205, 304]);

/**
 * A `fetch` for providers on Node's own HTTP client, which needs half the time of the built-in one for a small request.
 * Connections are kept; redirects are not followed, so a key goes nowhere but to the configured address.
 */
export function createProviderFetch(): typeof fetch {
  const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  return async (input, init) => {
    if (typeof init?.body !== 'string') return fetch(input, init);
    const url = new URL(input instanceof Request ? input.url : input);
    const secure = url.protocol === 'https:';
    const options: RequestOptions = {
      method: init.method ?? 'GET',
      agent: secure ? agents.https : agents.http,
      signal: init.signal ?? undefined,
      headers: {
        ...Object.fromEntries(new Headers(init.headers)),
        'accept-encoding': 'identity',
        'content-length': Buffer.byteLength(init.body),
      },
    };
    return responseOf(await send(url, options, init.body));
  };
}

/** A kept connection may have been closed meanwhile; that is found out by using it, and tried once more on a new one. */
function send(url: URL, options: RequestOptions, body: string, isRetry = false): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, resolve);
    request.on('error', (error: NodeJS.ErrnoException) => {
      const stale = request.reusedSocket && error.code === 'ECONNRESET' && !isRetry;
      if (stale) resolve(send(url, options, body, true));
      else reject(error.name === 'AbortError' ? error : new TypeError('fetch failed', { cause: error }));
    });
    request.end(body);
  });
}

async function responseOf(message: IncomingMessage): Promise<Response> {
  const status = message.statusCode ?? 502;
  const headers = new Headers();
  for (let at = 0; at < message.rawHeaders.length; at += 2)
    headers.append(message.rawHeaders[at] ?? '', message.rawHeaders[at + 1] ?? '');
  const streamed = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const body = streamed ? (Readable.toWeb(message) as ReadableStream<Uint8Array>) : await wholeBody(message);
  return new Response(NO_BODY.has(status) ? null : body, { status, headers });
}

async function wholeBody(message: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) throw new Error(`the provider sent more than ${MAX_BODY_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw error;
    throw new TypeError('fetch failed', { cause: error });
  }
  return Buffer.concat(chunks);
}
