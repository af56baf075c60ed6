import { failure, type Failure, type HttpExecutor, type HttpReply } from '../runs/state/executor.ts';
import { egressRule, EgressRefused, guardedLookup, refusal } from './egress.ts';

/** What is read of a response; the rest is left on the wire. */
export const MAX_RESPONSE_BYTES = 256 * 1024;

/** For addresses in the configuration of the service: the operator sets them, so none is refused. */
export const EVERYWHERE = ['0.0.0.0/0', '::/0'];

/** Calls URLs of pipeline authors: http and https only, no redirects, no private address unless allowed. */
export function httpExecutor(egressAllow: readonly string[]): HttpExecutor {
  const rule = egressRule(egressAllow);
  const client = lazily(async () => {
    const undici = await import('undici');
    const connect = { lookup: guardedLookup(rule), timeout: 10_000 };
    // How long a call may take is said by its signal, which a step may set to a day.
    const options = { connect, maxRedirections: 0, headersTimeout: 0, bodyTimeout: 0 };
    return { request: undici.request, agent: new undici.Agent(options) };
  });
  return async (call) => {
    const url = parseUrl(call.url);
    if (!url) return failure('invalid_url', 'the URL is not a valid http or https URL');
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // An address in the URL is dialled without a look-up.
    const literal = /^[\d.]+$/.test(host) || host.includes(':');
    if (literal && !rule.allowsAddress(host)) return failure('egress_refused', refusal(host));
    try {
      const { request, agent } = await client();
      const { statusCode, headers, body } = await request(url, {
        dispatcher: agent,
        method: call.method as 'GET',
        headers: call.headers,
        body: call.body,
        signal: call.signal,
      });
      const reply: HttpReply = { ok: true, status: statusCode, headers: flatten(headers), body: await readSome(body) };
      return reply;
    } catch (error) {
      return explain(error, call.signal);
    }
  };
}

/** The client is loaded with the first call: most services start without ever needing it. */
function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
}

function parseUrl(text: string): URL | null {
  const url = URL.parse(text);
  return url && (url.protocol === 'http:' || url.protocol === 'https:') && !url.username ? url : null;
}

const flatten = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );

async function readSome(body: AsyncIterable<Buffer>): Promise<string> {
  // A list of chunks of a byte each would take a hundred times more.
  const kept = Buffer.allocUnsafeSlow(MAX_RESPONSE_BYTES);
  let size = 0;
  for await (const chunk of body) {
    size += chunk.copy(kept, size);
    if (size === MAX_RESPONSE_BYTES) break;
  }
  return kept.toString('utf8', 0, size);
}

function explain(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return failure('cancelled', 'stopped');
  if (error instanceof EgressRefused) return failure('egress_refused', error.message);
  const cause = error instanceof Error ? error : new Error(String(error));
  const invalid = cause.name === 'InvalidArgumentError';
  return failure(invalid ? 'invalid_request' : 'network', cause.message, !invalid);
}
