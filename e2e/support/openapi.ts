/** What tests check of the OpenAPI document of a service, and of answers against it. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';

export interface Answer {
  method: string;
  path: string;
  status: number;
  body: unknown;
}

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  parameters?: { name: string; schema?: object }[];
  requestBody?: { content: Content };
  responses: Record<string, { content: Content }>;
}
interface Media {
  schema: { $ref?: string };
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
type Content = Record<string, Media>;

export interface OpenApiDocument {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { examples?: unknown[] }> };
}

/** What breaks the OpenAPI specification; empty for a valid document. */
export async function documentProblems(document: OpenApiDocument): Promise<unknown> {
  const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });
  return valid ? [] : errors;
}

/** Returns why a JSON answer is none of the document's, null for one that is. A path without operations answers errors only. */
export function createAnswerCheck(document: OpenApiDocument): (answer: Answer) => string | null {
  const check = schemaCheck(document);
  return ({ method, path, status, body }) => {
    const known = pathOf(document, path);
    if (known === null) return check(['components', 'schemas', 'Error'], body);
    const operation = document.paths[known]?.[method.toLowerCase()];
    if (!operation) return check(['components', 'schemas', 'Error'], body);
    if (!operation.responses[status]) return `${method} ${known} declares no status ${status}`;
    const pointer = ['responses', String(status), 'content', 'application/json', 'schema'];
    return check(['paths', known, method.toLowerCase(), ...pointer], body);
  };
}

/** What operations lack that a reader needs: a name, a group, a summary, parameters, errors, and an example that is valid. */
export function operationProblems(document: OpenApiDocument): string[] {
  const operations = operationsOf(document);
  const check = schemaCheck(document);
  const ids = operations.map(({ operation }) => operation.operationId);
  const isUnique = (id = '') => id !== '' && ids.indexOf(id) === ids.lastIndexOf(id);
  return operations.flatMap((place) => {
    const { path, method, operation } = place;
    const { operationId, summary, tags = [], responses } = operation;
    const lacks = [
      ...(isUnique(operationId) ? [] : ['an operationId of its own']),
      ...(summary && tags.length > 0 ? [] : ['summary and tag']),
      ...(hasParameters(path, operation) ? [] : ['parameters']),
      ...(Object.keys(responses).some((status) => status >= '400') ? [] : ['error statuses']),
      ...exampleProblems(document, place, check),
    ];
    return lacks.map((lack) => `${method} ${path}: ${lack}`);
  });
}

function hasParameters(path: string, { parameters = [] }: Operation): boolean {
  return [...path.matchAll(/\{(\w+)\}/g)].every(([, name]) => parameters.some((given) => given.name === name));
}

/** Each body and each answer needs an example, of its own or of the component that it refers to. */
function exampleProblems(document: OpenApiDocument, { path, method, operation }: Place, check: SchemaCheck): string[] {
  const { requestBody, responses } = operation;
  const bodies: [place: string[], content: Content | undefined][] = [
    [['requestBody'], requestBody?.content],
    ...Object.entries(responses).map(([status, { content }]): [string[], Content] => [['responses', status], content]),
  ];
  return bodies.flatMap(([place, content = {}]) =>
    Object.entries(content).flatMap(([type, media]) => {
      const examples = examplesOf(document, media);
      if (examples.length === 0) return [`an example at ${place.join(' ')}`];
      const pointer = ['paths', path, method, ...place, 'content', type, 'schema'];
      return examples.map((example) => check(pointer, example)).filter((problem) => problem !== null);
    }),
  );
}

function examplesOf({ components }: OpenApiDocument, { example, examples, schema }: Media): unknown[] {
  if (example !== undefined) return [example];
  if (examples) return Object.values(examples).map(({ value }) => value);
  return components.schemas[schema.$ref?.split('/').at(-1) ?? '']?.examples ?? [];
}

interface Place {
  path: string;
  method: string;
  operation: Operation;
}

function operationsOf({ paths }: OpenApiDocument): Place[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

type SchemaCheck = (pointer: readonly string[], value: unknown) => string | null;

function schemaCheck(document: OpenApiDocument): SchemaCheck {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ ...document, $id: 'document' });
  return (pointer, value) => {
    const steps = pointer.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')));
    const validate = ajv.getSchema(`document#/${steps.join('/')}`);
    if (!validate) return `the document has no schema at ${pointer.join(' ')}`;
    return validate(value) ? null : ajv.errorsText(validate.errors, { dataVar: pointer.slice(0, 3).join(' ') });
  };
}

/** The path with parameters that an address belongs to; one without them goes first. */
function pathOf({ paths }: OpenApiDocument, address: string): string | null {
  const path = address.split('?', 1)[0] ?? '';
  if (paths[path]) return path;
  const matches = (template: string) =>
    new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  return Object.keys(paths).find(matches) ?? null;
}
