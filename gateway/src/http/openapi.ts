import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { RouteScope } from './access.ts';
import { COMPONENTS } from './schemas/component.ts';
import { ErrorAnswer } from './schemas/errors.ts';
import { OpenApi } from './schemas/service.ts';

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string;
    summary?: string;
    tags?: readonly string[];
    produces?: readonly string[];
  }
}

const TAGS = [
  { name: 'service', description: 'State of the gateway' },
  { name: 'agents', description: 'The registry of agents' },
  { name: 'models', description: 'Model providers' },
  { name: 'tools', description: 'Tool servers and the tool policy' },
];

const SCOPE_TEXT = {
  open: 'No token.',
  metrics: 'No token, or `invoke` when `server.metrics_auth` is set.',
  invoke: 'Token with scope `invoke` or `admin`.',
  reload: 'Token with scope `reload` or `admin`.',
  admin: 'Token with scope `admin`.',
} as const;

const STATUS_TEXT: Record<string, string> = {
  200: 'OK',
  400: 'The body or the address is not valid',
  401: 'The token is missing or unknown',
  403: 'The token lacks the scope',
  404: 'There is no such agent',
  409: 'The agent exists, or is managed by a custom resource',
  413: 'The body is too large',
  500: 'An error inside the gateway',
};

const registries = { schemaRegistry: COMPONENTS, zodToJsonConfig: { unrepresentable: 'any' as const } };
const toJsonSchema = createJsonSchemaTransform(registries);
const addComponents = createJsonSchemaTransformObject(registries);

/** `GET /openapi.json`: OpenAPI 3.1, made from the schemas of the routes at the first request for it. */
export function describeRoutes(app: FastifyInstance, version: string): void {
  void app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Signalbox gateway', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
      servers: [{ url: '/' }],
      tags: TAGS,
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
    transform: ({ schema, url, route, ...rest }) => {
      const { scope = 'admin' } = route.config ?? {};
      const response = { ...(schema.response as object), ...commonErrors(route, scope) };
      const written = toJsonSchema({ ...rest, schema: { ...schema, response }, url, route }).schema;
      const described = { description: SCOPE_TEXT[scope], ...securityOf(scope), response: answersOf(written) };
      return { url, schema: { ...written, ...described } };
    },
    transformObject: (document) => withoutUnused(addComponents(document)),
  });
  void app.register(async (scope) => {
    scope.get(
      '/openapi.json',
      {
        config: { scope: 'invoke' },
        schema: {
          operationId: 'getOpenApi',
          summary: 'This document',
          tags: ['service'],
          response: { 200: OpenApi },
        } satisfies FastifySchema,
      },
      () => scope.swagger(),
    );
  });
}

/** What a route answers beside its own errors, by its scope and method. */
function commonErrors({ method, url }: RouteOptions, scope: RouteScope): Record<number, z.ZodType> {
  const statuses = [
    // An address that cannot be decoded, or a body.
    ...(method === 'GET' && !url.includes(':') ? [] : [400]),
    ...(method === 'GET' ? [] : [413]),
    ...(scope === 'open' ? [] : [401]),
    ...(scope === 'open' || scope === 'metrics' ? [] : [403]),
    500,
  ];
  return Object.fromEntries(statuses.map((status) => [status, ErrorAnswer]));
}

function securityOf(scope: RouteScope): { security?: Record<string, string[]>[] } {
  if (scope === 'open') return {};
  return { security: [...(scope === 'metrics' ? [{}] : []), { bearer: [] }] };
}

/** Each status with its description and content type. */
function answersOf({ response, produces = ['application/json'] }: FastifySchema): Record<string, object> {
  const answers = Object.entries(response as Record<string, object>).map(([status, schema]) => {
    const types = status === '200' ? produces : ['application/json'];
    const content = Object.fromEntries(types.map((type) => [type, { schema }]));
    return [status, { description: STATUS_TEXT[status], content }];
  });
  return Object.fromEntries(answers);
}

type Document = ReturnType<typeof addComponents>;

/** Each component is made for requests and for answers; most occur in one of them only. */
function withoutUnused(document: Document): Document {
  const { components = {}, ...rest } = document as { components?: { schemas?: Record<string, object> } };
  const used = Object.entries(components.schemas ?? {}).filter(([id], _, all) => {
    const others = all.filter(([other]) => other !== id).map(([, schema]) => schema);
    return JSON.stringify([rest, others]).includes(`"#/components/schemas/${id}"`);
  });
  const pruned = { ...rest, components: { ...components, schemas: Object.fromEntries(used) } } as Document;
  return used.length === Object.keys(components.schemas ?? {}).length ? pruned : withoutUnused(pruned);
}
