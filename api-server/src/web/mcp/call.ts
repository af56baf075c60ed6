import { z } from 'zod';
import type { Route } from '../route.ts';
import type { ToolEntry } from './tools.ts';
import { asMcpCall } from './via.ts';

type JsonObject = Record<string, unknown>;

/** Passes a request to the routes of the same server, past the network. */
export type Inject = (request: {
  method: Route['method'];
  url: string;
  headers: Record<string, string>;
  payload?: JsonObject;
}) => Promise<{ statusCode: number; body: string }>;

/** A tool with its route. */
export interface Tool extends ToolEntry {
  route: Route;
  input: JsonObject;
}

const WHOLE_NUMBER = String.raw`^\d{1,10}$`;

/** The keys of path, query and body of a route in one object. */
export function toolOf(entry: ToolEntry, route: Route): Tool {
  const parts = [route.described.params, route.described.query, route.described.body].flatMap((schema) =>
    schema === null ? [] : [jsonSchemaOf(schema)],
  );
  return {
    ...entry,
    route,
    input: {
      type: 'object',
      properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as JsonObject,
      required: parts.flatMap(({ required }) => required ?? []),
      additionalProperties: false,
    },
  };
}

interface ObjectSchema extends JsonObject {
  properties?: JsonObject;
  required?: string[];
  anyOf?: ObjectSchema[];
  $ref?: string;
  $defs?: Record<string, ObjectSchema>;
}

function jsonSchemaOf(schema: z.ZodType): ObjectSchema {
  const made = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ jsonSchema }) => {
      delete jsonSchema.id;
      // A number of a query is text; whoever calls a tool sends a number.
      if (jsonSchema.pattern !== WHOLE_NUMBER) return;
      jsonSchema.type = 'integer';
      delete jsonSchema.pattern;
    },
  }) as ObjectSchema;
  const named = (one: ObjectSchema): ObjectSchema => made.$defs?.[one.$ref?.split('/').at(-1) ?? ''] ?? one;
  return [made, ...(made.anyOf ?? [])].map(named).find(({ properties }) => properties !== undefined) ?? made;
}

/** Characters of an answer that a tool returns. */
const MOST_CHARS = 200_000;

/** Sends the arguments to the route, each to the part that names it; what none names goes to the body or the query, which refuse it. */
export async function callTool(
  inject: Inject,
  { route, render }: Tool,
  { args, authorization }: { args: JsonObject; authorization: string | undefined },
): Promise<{ content: { type: 'text'; text: string }[]; isError?: true }> {
  const inPath = new Set([...route.url.matchAll(/:(\w+)/g)].map(([, name = '']) => name));
  const dots = [...inPath].map((name) => textOf(args[name])).find((text) => text === '.' || text === '..');
  const missing = [...inPath].find((name) => args[name] === undefined);
  if (missing !== undefined) return { content: [{ type: 'text', text: `${missing}: is required` }], isError: true };
  // Every spelling of these steps out of its place in a path.
  if (dots !== undefined) return { content: [{ type: 'text', text: `"${dots}" is no name` }], isError: true };
  const url = route.url.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(textOf(args[name])));
  const rest = Object.entries(args).filter(([name]) => !inPath.has(name));
  const query = route.method === 'GET' ? new URLSearchParams(rest.flatMap(inQuery)).toString() : '';
  const answer = await asMcpCall(() =>
    inject({
      method: route.method,
      url: query === '' ? url : `${url}?${query}`,
      headers: authorization === undefined ? {} : { authorization },
      ...(route.method === 'GET' ? {} : { payload: Object.fromEntries(rest) }),
    }),
  );
  const isError = answer.statusCode >= 400;
  const text = isError || !render ? answer.body : render(JSON.parse(answer.body));
  const cut = text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}\n… cut after ${MOST_CHARS} characters` : text;
  return { content: [{ type: 'text', text: cut }], ...(isError ? { isError } : {}) };
}

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));
const inQuery = ([name, value]: [string, unknown]): [string, string][] =>
  [value].flat().map((one) => [name, textOf(one)]);
