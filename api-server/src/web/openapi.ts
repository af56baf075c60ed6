import { ERROR_STATUS, type ErrorType } from '@signalbox/crds';
import fastifySwagger from '@fastify/swagger';
import fastify from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ERROR_EXAMPLES } from '../service/views/error.ts';
import { NoBody, type Route, TAGS } from './route.ts';
import { readPart, refusalsOf, schemaOf, writeAnswer } from './schemas.ts';

type JsonObject = Record<string, unknown>;
interface Body {
  required: boolean;
  content: { 'application/json': { schema: JsonObject & { anyOf?: JsonObject[] } } };
}
type Operation = JsonObject & {
  requestBody?: Body;
  responses: Record<string, { description: string; content?: Record<string, JsonObject> }>;
};
export interface ApiDescription extends JsonObject {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonObject> };
}

/** The API description, made from the table that makes the routes. It takes a moment, so it is made when it is asked for. */
export async function describeApi(routes: readonly Route[], version: string): Promise<ApiDescription> {
  const app = fastify();
  app.setValidatorCompiler(readPart);
  app.setSerializerCompiler(writeAnswer);
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Signalbox api-server', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
      servers: [{ url: '/' }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
  await app.register(async (scope) => {
    for (const route of routes) scope.route({ ...documented(route), handler: () => undefined });
  });
  await app.ready();
  const description = app.swagger() as unknown as ApiDescription;
  await app.close();
  for (const route of routes) finish(description, route);
  return withoutUnused(description);
}

function documented(route: Route) {
  const { described, method, id, tag, summary, role } = route;
  const { body, ...schema } = schemaOf({ ...route, ...described });
  return {
    method,
    url: described.url,
    exposeHeadRoute: false,
    schema: {
      ...schema,
      ...(body === undefined || body === NoBody ? {} : { body }),
      operationId: id,
      tags: [tag],
      summary,
      security: role === 'none' ? [] : [{ bearer: [] }],
      'x-role': role,
    },
  };
}

/** What the generator leaves out: words for every status, examples beside their schemas, the role. */
function finish(description: ApiDescription, route: Route): void {
  const { described, method, role } = route;
  const path = description.paths[described.url.replaceAll(/:(\w+)/g, '{$1}')] ?? {};
  const operation = path[method.toLowerCase()];
  if (!operation) return;
  operation['x-role'] = role;
  if (operation.requestBody && described.body) {
    mayBeLeftOut(operation.requestBody);
    Object.assign(operation.requestBody.content['application/json'], { example: exampleOf(described.body) });
  }
  for (const [status, response] of Object.entries(operation.responses)) {
    response.description = STATUS_WORDS[status] ?? 'OK';
    const examples = examplesOf(route, status);
    for (const media of Object.values(response.content ?? {})) Object.assign(media, examples);
  }
}

function examplesOf(route: Route, status: string) {
  const answer = route.answers[Number(status)];
  if (answer === undefined) return errorExamples(route, status);
  const example = answer instanceof z.ZodType ? exampleOf(answer) : answer.example;
  return fits(example, status) ? { example } : errorExamples(route, status);
}

/** The generator drops the examples of a schema that transforms what it reads, so they are read from the schema. */
function exampleOf(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return exampleOf(schema.unwrap() as z.ZodType);
  const { examples } = schema.meta() ?? {};
  return Array.isArray(examples) ? (examples[0] as unknown) : undefined;
}

/** Several statuses may share the schema of a refusal, but not its example. */
function fits(example: unknown, status: string): boolean {
  const { detail } = example as { detail?: { type: ErrorType } | null };
  return !detail || ERROR_STATUS[detail.type] === Number(status);
}

/** One of each type that the route refuses with this status; a status that it declares itself has one type of refusal. */
function errorExamples(route: Route, status: string) {
  const has = (type: ErrorType) => ERROR_STATUS[type] === Number(status);
  const types = refusalsOf(route).filter(has);
  const [first = 'unavailable', ...others] = types;
  if (others.length === 0) return { example: { detail: ERROR_EXAMPLES[first] } };
  return { examples: Object.fromEntries(types.map((type) => [type, { value: { detail: ERROR_EXAMPLES[type] } }])) };
}

/** A body that may be null may be left out. */
function mayBeLeftOut(body: Body): void {
  const media = body.content['application/json'];
  const given = media.schema.anyOf?.filter(({ type }) => type !== 'null');
  if (given === undefined || given.length === media.schema.anyOf?.length) return;
  body.required = false;
  media.schema = given.length === 1 && given[0] ? given[0] : { ...media.schema, anyOf: given };
}

/** The generator lists every schema twice, as read and as written; only what something refers to stays. */
function withoutUnused(description: ApiDescription): ApiDescription {
  const { schemas } = description.components;
  for (;;) {
    const text = JSON.stringify(description);
    const unused = Object.keys(schemas).filter((name) => !text.includes(`"#/components/schemas/${name}"`));
    if (unused.length === 0) return description;
    for (const name of unused) delete schemas[name];
  }
}

const STATUS_WORDS: Record<string, string> = {
  201: 'Created',
  202: 'Accepted',
  400: 'The request cannot be read, or asks for what cannot be',
  401: 'No token, or one that is not known',
  403: 'The token has another role',
  404: 'There is no such thing',
  409: 'The state does not allow it',
  413: 'The body is too large',
  422: 'The body is readable and means nothing here',
  429: 'Too much at once; Retry-After says when to try again',
  500: 'The service failed; its log says why',
  503: 'Not now',
};
