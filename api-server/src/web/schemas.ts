import { ERROR_STATUS, type ErrorType } from '@signalbox/crds';
import type { FastifySchema, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';
import { z } from 'zod';
import { ErrorAnswer } from '../service/views/error.ts';
import { validationError } from './errors.ts';
import type { Route } from './route.ts';

const PARTS: Record<string, string> = { params: 'path', querystring: 'query', body: 'body' };

/** Reads a part of a request with its schema. What a schema throws is the answer, as a failed check is. */
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

/** Answers are built by typed views, so they go out as they are; tests hold them to their schemas. */
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

/** Every route may refuse what it cannot read and may fail; one with a role may ask for another token. */
export function refusalsOf({ refusals, role }: Pick<Route, 'refusals' | 'role'>): ErrorType[] {
  const guarded = role === 'none' ? [] : (['unauthorized', 'forbidden'] as const);
  return ['validation', 'internal', ...guarded, ...refusals];
}
