import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller, RouteRole } from './auth/caller.ts';
import { validationError } from './errors.ts';

/** What a handler works with: parsed parts of the request and who asks. */
export interface Call<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  caller: Caller;
  request: FastifyRequest;
  reply: FastifyReply;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface Schemas<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  params?: P;
  query?: Q;
  body?: B;
}

interface Definition<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> extends Schemas<P, Q, B> {
  method: Method;
  /** Fastify's form: `/runs/:id`, `/runs/:id/steps/*`. */
  url: string;
  /** The least role (Orchestration 5). */
  role: RouteRole;
  /** One line for the API description. */
  summary: string;
  /** What the description says of a body that is taken as it comes. */
  describedBody?: z.ZodType;
  handler(call: Call<z.output<P>, z.output<Q>, z.output<B>>): unknown;
}

/** One line of the route table. Everything that is not declared is refused: parameters, query and body keys. */
export interface Route {
  method: Method;
  url: string;
  role: RouteRole;
  summary: string;
  schemas: { params: z.ZodType; query: z.ZodType; body: z.ZodType };
  describedBody: z.ZodType;
  handle(request: FastifyRequest, reply: FastifyReply): unknown;
}

/** Accepts what comes, for deliveries. */
export const Anything = z.unknown();
const Nothing = z.strictObject({});
const NoBody = z.strictObject({}).nullish();

export function route<
  P extends z.ZodType = typeof Nothing,
  Q extends z.ZodType = typeof Nothing,
  B extends z.ZodType = typeof NoBody,
>(definition: Definition<P, Q, B>): Route {
  const { method, url, role, summary, handler } = definition;
  const schemas = {
    params: definition.params ?? Nothing,
    query: definition.query ?? Nothing,
    body: definition.body ?? NoBody,
  };
  return {
    method,
    url,
    role,
    summary,
    schemas,
    describedBody: definition.describedBody ?? schemas.body,
    handle: (request, reply) =>
      handler({
        params: parsePart(schemas.params as P, request.params, 'path'),
        query: parsePart(schemas.query as Q, request.query, 'query'),
        body: parsePart(schemas.body as B, request.body, 'body'),
        caller: request.caller,
        request,
        reply,
      }),
  };
}

function parsePart<S extends z.ZodType>(schema: S, value: unknown, part: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw validationError(parsed.error, [part]);
  return parsed.data;
}
