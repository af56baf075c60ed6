import type { FastifyInstance } from 'fastify';
import { invalid, MAX_VALUE_CHARS, NO_JSON } from './errors.ts';

/** Reads JSON bodies only. Many clients send a content type without a body, so an empty body of any type is no body. */
export function readJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    void parse(request, String(body), (error, value) =>
      error ? done(invalid(whyNoJson(String(body)))) : done(null, value),
    );
  });
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => {
    if (body.length === 0) done(null, undefined);
    else done(invalid(NO_JSON));
  });
}

function whyNoJson(body: string): string {
  try {
    JSON.parse(body);
    return 'the body has a key that is not accepted: __proto__ or constructor.prototype';
  } catch (error) {
    return `the body is not JSON: ${error instanceof Error ? error.message.slice(0, MAX_VALUE_CHARS) : ''}`;
  }
}
