import { type RequestContext, ResponseContext, SelfDecodingBody, wrapHttpLibrary } from '@kubernetes/client-node';
import { request } from 'undici';
import { bytesOf } from './answer.ts';

/** Several times what one object may have. */
const MAX_BODY = 4 * 1024 * 1024;

/** Sends what the client prepared. Its own way is `fetch`, whose streams and headers take most of the time of a small request. */
export const httpLibrary = wrapHttpLibrary({
  send: async (prepared: RequestContext) => {
    const { statusCode, headers, body } = await request(prepared.getUrl(), {
      method: prepared.getHttpMethod(),
      headers: prepared.getHeaders(),
      body: prepared.getBody() as string | undefined,
      signal: prepared.getSignal(),
      dispatcher: prepared.getDispatcher(),
    });
    // Read at once: the client leaves some answers unread, and their connections would stay taken.
    const bytes = await bytesOf(body, MAX_BODY);
    const type = { 'content-type': String(headers['content-type']) };
    return new ResponseContext(statusCode, type, new SelfDecodingBody(Promise.resolve(bytes)));
  },
});
