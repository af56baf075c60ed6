import { ERROR_STATUS, type ErrorType } from '@signalbox/crds';
import type { FastifySchema, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';
import { z } from 'zod';
import { ErrorAnswer } from '../service/views/error.ts';
import { validationError } from './errors.ts';
import type { Route } from './route.ts';

const PARTS: Record<string, string> = { params: 'path', querystring: 'query', body: 'body' };

/** Parses a part of a request with its schema. An error that the schema throws becomes the response. */
export const readPart: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (data) => {
    try {
      const parsed = schema.safeParse(data);
      if (parsed.success) return { value: parsed.data };
      return { error: validationError(parsed.error, [PARTS[httpPart ?? ''] ?? 'request']) };
    } catch (error) {
      return { error: error as Error };
    }
  };

/** Responses are built by typed views and sent unchecked; tests compare them with their schemas. */
export const writeAnswer: FastifySerializerCompiler<unknown> = () => (data) => JSON.stringify(data);

/** What fastify and the API description read of a route. */
export const schemaOf = ({ params, query, body, answers, refusals, role }: Route): FastifySchema => ({
  params,
  querystring: query,
  ...(body === null ? {} : { body }),
  response: {
    ...Object.fromEntries(refusalsOf({ refusals, role }).map((type) => [ERROR_STATUS[type], ErrorAnswer])),
    ...answersOf(answers),
  },
});

const answersOf = (answers: Route['answers']) =>
  Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      answer instanceof z.ZodType
        ? answer
        : { description: 'OK', content: { [answer.mediaType]: { schema: z.string() } } },
    ]),
  );

/** Errors that every route declares; a route with a role also declares 401 and 403. */
export function refusalsOf({ refusals, role }: Pick<Route, 'refusals' | 'role'>): ErrorType[] {
  const guarded = role === 'none' ? [] : (['unauthorized', 'forbidden'] as const);
  return ['validation', 'internal', ...guarded, ...refusals];
}
