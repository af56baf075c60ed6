import type { IncomingMessage } from 'node:http';
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type HttpAgent, httpRequest } from './http.ts';

export interface Exchange {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  agent?: HttpAgent | HttpsAgent;
  /** Until the answer begins. */
  answerMs: number;
  /** Between two pieces of its body; as long as `answerMs` unless given. */
  silenceMs?: number;
  signal?: AbortSignal;
}

/** Sends one request and answers with the head of its response. Rejects where the peer cannot be reached or is silent. */
export function exchange({
  url,
  method = 'GET',
  headers,
  body,
  agent,
  signal,
  ...times
}: Exchange): Promise<IncomingMessage> {
  const { answerMs, silenceMs = answerMs } = times;
  return new Promise((resolve, reject) => {
    const secure = url.startsWith('https:');
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const sent = (secure ? httpsRequest : httpRequest)(url, {
      method,
      headers: { ...headers, ...length },
      ...(agent ? { agent } : {}),
      ...(signal ? { signal } : {}),
    });
    const silent = (ms: number) => () => sent.destroy(new Error(`silent for ${ms / 1000} s`));
    sent.setTimeout(answerMs, silent(answerMs));
    // Also after the answer began: its body then breaks off, and says so to its reader.
    sent.on('error', reject);
    sent.once('response', (response) => {
      if (silenceMs !== answerMs) sent.setTimeout(silenceMs, silent(silenceMs));
      resolve(response);
    });
    sent.end(body);
  });
}

/** The whole body. Rejects where it breaks off. */
export async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) text += chunk as string;
  return text;
}
