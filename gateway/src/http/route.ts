import type { z } from 'zod';

/** `metrics` is open, or `invoke` when the operator says so. */
export type RouteScope = 'open' | 'metrics' | 'invoke' | 'admin';

export interface RouteRequest<Body> {
  params: Record<string, string>;
  body: Body;
}

/** What a route answers with status 200; `text` is sent as it is. */
export type RouteAnswer = { json: unknown } | { text: string; contentType: string };

/** One route as data: it drives the server, the scopes, the OpenAPI document and the test that walks them all. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `{name}` for a parameter. */
  path: string;
  scope: RouteScope;
  summary: string;
  body: z.ZodType | null;
  response: z.ZodType | null;
  handle: (request: RouteRequest<unknown>) => RouteAnswer | Promise<RouteAnswer>;
}

interface RouteDefinition<Body extends z.ZodType | null> {
  method: Route['method'];
  path: string;
  scope: RouteScope;
  summary: string;
  body?: Body;
  response?: z.ZodType;
  handle: (request: RouteRequest<Body extends z.ZodType ? z.output<Body> : null>) => RouteAnswer | Promise<RouteAnswer>;
}

/** Checks a route's types against its own body schema. */
export function route<Body extends z.ZodType | null = null>(definition: RouteDefinition<Body>): Route {
  const { body, response, handle, ...rest } = definition;
  return { ...rest, body: body ?? null, response: response ?? null, handle: handle as Route['handle'] };
}
