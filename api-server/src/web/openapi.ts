import { ERROR_STATUS } from '@signalbox/crds';
import { z } from 'zod';
import type { Route } from './route.ts';

type JsonObject = Record<string, unknown>;

/** The API description, made from the same table that makes the routes (Design 5). */
export function describeApi(routes: readonly Route[], version: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, '{$1}').replace('/*', '/{step_name}/feedback');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Signalbox api-server', version },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: ERROR_SCHEMA },
    },
    paths,
  };
}

function operation({ summary, role, method, schemas, describedBody }: Route): JsonObject {
  return {
    summary,
    'x-role': role,
    security: role === 'none' ? [] : [{ bearer: [] }],
    parameters: [...parameters(schemas.params, 'path'), ...parameters(schemas.query, 'query')],
    ...(method === 'POST' || method === 'PUT' ? requestBody(describedBody) : {}),
    responses: {
      '2XX': { description: 'Done or accepted' },
      default: {
        description: 'Refused',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

/** Nothing for a route without a body; one that may be left out is not required. */
function requestBody(described: z.ZodType): JsonObject {
  const { anyOf = [], ...own } = jsonSchema(described) as { anyOf?: JsonObject[]; properties?: JsonObject };
  const all = anyOf.length === 0 ? [own] : anyOf;
  const bodies = all.filter(({ properties }) => Object.keys(properties ?? {}).length > 0);
  if (bodies.length === 0) return {};
  const schema = bodies.length === 1 ? bodies[0] : { anyOf: bodies };
  return { requestBody: { required: all.length === bodies.length, content: { 'application/json': { schema } } } };
}

function parameters(schema: z.ZodType, where: 'path' | 'query'): JsonObject[] {
  const { properties = {}, required = [] } = jsonSchema(schema) as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  return Object.entries(properties).map(([key, value]) => ({
    name: key === '*' ? 'step_name' : key,
    in: where,
    required: where === 'path' || required.includes(key),
    schema: value,
  }));
}

const jsonSchema = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonObject;

const ERROR_SCHEMA = {
  type: 'object',
  required: ['detail'],
  properties: {
    detail: {
      type: 'object',
      required: ['type', 'message'],
      properties: { type: { enum: Object.keys(ERROR_STATUS) }, message: { type: 'string' } },
    },
  },
};
