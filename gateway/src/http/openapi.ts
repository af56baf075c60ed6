import { z } from 'zod';
import type { Route, RouteScope } from './route.ts';
import { ErrorView } from './schemas.ts';

const SCOPE_TEXT = {
  open: 'No token.',
  metrics: 'No token, or `invoke` when `server.metrics_auth` is set.',
  invoke: 'Token with scope `invoke` or `admin`.',
  admin: 'Token with scope `admin`.',
} as const;

/** The OpenAPI 3.1 document of a route table. */
export function openApi(routes: readonly Route[], version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const methods = (paths[route.path] ??= {});
    methods[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Signalbox gateway', version },
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    paths,
  };
}

function operation(route: Route): Record<string, unknown> {
  const parameters = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const answer = route.response
    ? { 'application/json': { schema: schemaOf(route.response, 'output') } }
    : { 'text/plain': { schema: { type: 'string' } } };
  return {
    summary: route.summary,
    description: SCOPE_TEXT[route.scope],
    ...securityOf(route.scope),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body
      ? { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(route.body, 'input') } } } }
      : {}),
    responses: {
      200: { description: 'OK', content: answer },
      default: { description: 'Error', content: { 'application/json': { schema: schemaOf(ErrorView, 'output') } } },
    },
  };
}

function securityOf(scope: RouteScope): { security?: object[] } {
  if (scope === 'open') return {};
  return { security: [...(scope === 'metrics' ? [{}] : []), { bearer: [] }] };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): unknown {
  return z.toJSONSchema(schema, { io, unrepresentable: 'any' });
}
