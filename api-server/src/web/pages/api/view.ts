import { paths } from '../paths.ts';
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

/** The operations by their tag, which is the name of their group. */
function groupsOf({ paths: all }: Description) {
  const routes = Object.entries(all).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
  );
  return [...Map.groupBy(routes, ({ operation }) => operation.tags[0] ?? 'other')];
}

/** All operations in a line each, with links to their groups. */
export function apiIndex(description: object) {
  const groups = groupsOf(description as Description);
  return {
    count: plural(groups.flatMap(([, routes]) => routes).length, 'route'),
    groups: groups.map(([name, routes]) => ({
      name,
      anchor: `api-${name}`,
      href: paths.docs(name),
      routes: routes.map((route) => {
        const { anchor, ...head } = headOf(route);
        return { ...head, href: `${paths.docs(name)}#${anchor}` };
      }),
    })),
  };
}

/** The operations of one group in full, with the types that they use; null for a group that does not exist. */
export function apiGroup(description: object, wanted: string) {
  const whole = description as Description;
  const groups = groupsOf(whole);
  const [, routes] = groups.find(([name]) => name === wanted) ?? [];
  if (routes === undefined) return null;
  const { schemas } = whole.components;
  const used = typesIn(
    routes.map(({ operation }) => operation),
    schemas,
  );
  return {
    name: wanted,
    index: paths.docs(),
    groups: groups.map(([name, own]) => ({
      name,
      href: paths.docs(name),
      count: own.length,
      current: name === wanted,
    })),
    count: plural(routes.length, 'route'),
    routes: routes.map(routeView),
    types: [...used]
      .toSorted((a, b) => a.localeCompare(b))
      .map((name) => ({
        name,
        anchor: anchorOf(name),
        shapes: shapesOf(schemas[name] ?? {}).map(({ label, fields }) => ({
          label,
          fields: fields.map((field) => ({ ...field, type: typeView(field) })),
        })),
      })),
  };
}

const REFERENCE = '#/components/schemas/';

/** The names of the components that a value refers to, over other components too. */
function typesIn(value: unknown, schemas: Readonly<Record<string, Schema>>): Set<string> {
  const found = new Set<string>();
  const waiting: unknown[] = [value];
  for (const one of waiting) {
    if (typeof one === 'string' && one.startsWith(REFERENCE)) {
      const name = one.slice(REFERENCE.length);
      if (!found.has(name)) waiting.push(schemas[name]);
      found.add(name);
    } else if (typeof one === 'object' && one !== null) waiting.push(...Object.values(one));
  }
  return found;
}

interface Route {
  method: string;
  path: string;
  operation: Operation;
}

const headOf = ({ method, path, operation }: Route) => ({
  method: method.toUpperCase(),
  path,
  anchor: `${method}${path.replaceAll(/[^a-z0-9_]+/g, '-')}`,
  summary: operation.summary,
  role: operation['x-role'] === 'none' ? 'no token' : operation['x-role'],
});

function routeView(route: Route) {
  const { parameters = [], requestBody, responses } = route.operation;
  const answers = Object.entries(responses).map(([status, { description, content }]) => ({
    status,
    description,
    ...contentView(content),
  }));
  return {
    ...headOf(route),
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
