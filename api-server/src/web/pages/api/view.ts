import { plural } from '../runs/row.ts';
import { type Schema, shapesOf, type TypeWords, typeWords } from './schema.ts';

/** The parts of an OpenAPI description that the page shows. */
interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
type Content = Record<string, Media>;
interface Operation {
  tags: string[];
  summary: string;
  'x-role': string;
  parameters?: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}
interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** The operations of the service, grouped by their tag, and the types that they share. */
export function apiView(description: object) {
  const { paths, components } = description as Description;
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      tag: operation.tags[0] ?? 'other',
      ...routeView(method, path, operation),
    })),
  );
  const groups = [...Map.groupBy(routes, ({ tag }) => tag)];
  const types = Object.entries(components.schemas).toSorted(([a], [b]) => a.localeCompare(b));
  return {
    groups: groups.map(([name, own]) => ({ name, anchor: `api-${name}`, count: own.length, routes: own })),
    count: plural(routes.length, 'route'),
    types: types.map(([name, schema]) => ({
      name,
      anchor: anchorOf(name),
      shapes: shapesOf(schema).map(({ label, fields }) => ({
        label,
        fields: fields.map((field) => ({ ...field, type: typeView(field) })),
      })),
    })),
  };
}

function routeView(method: string, path: string, operation: Operation) {
  const { summary, parameters = [], requestBody, responses, 'x-role': role } = operation;
  const answers = Object.entries(responses).map(([status, { description, content }]) => ({
    status,
    description,
    ...contentView(content),
  }));
  return {
    method: method.toUpperCase(),
    path,
    anchor: `${method}${path.replaceAll(/[^a-z0-9_]+/g, '-')}`,
    summary,
    role: role === 'none' ? 'no token' : role,
    parameters: parameters.map(({ name, in: place, required, schema }) => ({
      name,
      place,
      required,
      type: typeView(typeWords(schema)),
    })),
    body: requestBody ? { required: requestBody.required === true, ...contentView(requestBody.content) } : null,
    answers: answers.filter(({ status }) => status < '400'),
    refusals: answers.filter(({ status }) => status >= '400'),
  };
}

/** The media type of an answer, and its examples as indented JSON. */
function contentView(content: Content = {}) {
  const [[mediaType, { schema, example, examples }] = ['', { schema: {}, example: '' } as Media]] =
    Object.entries(content);
  const shown = examples ? Object.values(examples).map(({ value }) => value) : [example];
  return {
    mediaType,
    type: typeView(typeWords(schema)),
    examples: shown.map((value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))),
  };
}

const typeView = ({ text, name }: TypeWords) => ({ text, href: name === null ? null : `#${anchorOf(name)}` });
const anchorOf = (name: string) => `type-${name}`;
