import type { ErrorBody, ErrorType } from '@signalbox/crds';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Actor } from '../service/actor.ts';
import type { Caller, RouteRole } from './auth/caller.ts';
import { isMcpCall } from './mcp/via.ts';

/** The input of a handler: the parsed parts of the request and the caller. */
export interface Call<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  caller: Caller;
  /** The caller as use cases and the audit log know it. */
  actor: Actor;
  request: FastifyRequest;
  reply: FastifyReply;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export const TAGS = {
  triggers: 'What starts runs',
  runs: 'Runs and their results',
  approvals: 'Approvals by people',
  feedback: 'Marks by people',
  definitions: 'Pipelines, library steps and agents',
  statistics: 'Figures of pipelines and steps',
  history: 'Calibration and versions',
  readiness: 'Whether a pipeline may leave testing',
  replay: 'Recorded executions run again, and golden sets',
  exports: 'Everything of one kind as a file',
  audit: 'Who changed what',
  service: 'Probes, metrics and this description',
} as const;

/** A response that is not JSON. */
export interface Text {
  mediaType: string;
  example: string;
}

interface Definition<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  method: Method;
  /** Fastify's form: `/runs/:id`, `/runs/:id/steps/*`. */
  url: string;
  /** The least role (Orchestration 5). */
  role: RouteRole;
  /** The name of the operation in the API description; unique. */
  id: string;
  tag: keyof typeof TAGS;
  /** One line for the API description. */
  summary: string;
  params?: P;
  query?: Q;
  body?: B;
  /** Successful responses by status; a returned value gets the first one. */
  answers: Record<number, z.ZodType | Text>;
  /** Error types in addition to those that every route has. */
  refusals?: readonly ErrorType[];
  /** Where the API description differs from the parsed request: a wildcard, or a body that is accepted unchecked. */
  described?: { url?: string; params?: z.ZodType; query?: z.ZodType; body?: z.ZodType };
  handler(call: Call<z.output<P>, z.output<Q>, z.output<B>>): unknown;
  /** Told of a request whose body could not be read. */
  unreadable?(request: FastifyRequest, refusal: { status: number; body: ErrorBody }): void;
}

/** One line of the route table. Undeclared parameters, query keys and body keys are refused. */
export interface Route extends Omit<
  Definition<z.ZodType, z.ZodType, z.ZodType>,
  'params' | 'query' | 'body' | 'handler' | 'refusals' | 'described'
> {
  params: z.ZodType;
  query: z.ZodType;
  /** Null where the method takes none. */
  body: z.ZodType | null;
  refusals: readonly ErrorType[];
  described: { url: string; params: z.ZodType; query: z.ZodType; body: z.ZodType | null };
  handle(request: FastifyRequest, reply: FastifyReply): unknown;
}

const actorOf = ({ caller: { name, role }, id }: FastifyRequest): Actor => ({
  name,
  kind: isMcpCall() ? 'mcp' : 'token',
  role,
  requestId: id,
});

/** Accepts any value, for deliveries. */
export const Anything = z.unknown();
const Nothing = z.strictObject({});
/** Of a method that could take one. */
export const NoBody = z.strictObject({}).nullish();

export function route<
  P extends z.ZodType = typeof Nothing,
  Q extends z.ZodType = typeof Nothing,
  B extends z.ZodType = typeof NoBody,
>({ handler, described, ...definition }: Definition<P, Q, B>): Route {
  const { method, url, answers, refusals = [], params = Nothing, query = Nothing } = definition;
  const takesBody = method !== 'GET';
  const body = takesBody ? (definition.body ?? NoBody) : null;
  const [status] = Object.keys(answers).map(Number);
  return {
    ...definition,
    params,
    query,
    body,
    refusals,
    described: { url, params, query, body, ...described },
    handle: async (request, reply) => {
      const { caller } = request;
      const answer = await handler({
        params: request.params as z.output<P>,
        query: request.query as z.output<Q>,
        body: request.body as z.output<B>,
        caller,
        actor: actorOf(request),
        request,
        reply,
      });
      // A handler that sent its answer itself resolves to nothing.
      if (answer !== undefined) reply.code(status ?? 200);
      return answer;
    },
  };
}
