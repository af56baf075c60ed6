import { plural } from '../runs/row.ts';

/** The parts of an OpenAPI description that the page shows. */
interface Operation {
  summary: string;
  'x-role': string;
  parameters: { name: string; in: string; required: boolean }[];
  requestBody?: { content: { 'application/json': { schema: Body & { anyOf?: Body[] } } } };
}
interface Body {
  title?: string;
  properties?: Record<string, unknown>;
  required?: string[];
}
type Paths = Record<string, Record<string, Operation>>;

/** The routes of the service, grouped by the first part of their path, in the order of the route table (Design 5). */
export function apiView(description: Record<string, unknown>) {
  const groups = new Map<string, ReturnType<typeof routeView>[]>();
  for (const [path, operations] of Object.entries(description['paths'] as Paths)) {
    const name = path.split('/')[1] ?? '';
    const routes = Object.entries(operations).map(([method, operation]) => routeView(method, path, operation));
    groups.set(name, [...(groups.get(name) ?? []), ...routes]);
  }
  const all = [...groups].map(([name, routes]) => ({ name, anchor: `api-${name}`, count: routes.length, routes }));
  return { groups: all, count: plural([...groups.values()].flat().length, 'route') };
}

function routeView(method: string, path: string, { summary, parameters, requestBody, 'x-role': role }: Operation) {
  const body = requestBody?.content['application/json'].schema;
  const bodies = body === undefined ? [] : (body.anyOf ?? [body]);
  const lists = [
    { label: 'path', keys: parameters.filter((part) => part.in === 'path') },
    { label: 'query', keys: parameters.filter((part) => part.in === 'query') },
    ...bodies.map(bodyKeys),
  ];
  return {
    method: method.toUpperCase(),
    path,
    anchor: `${method}${path.replaceAll(/[^a-z0-9_]+/g, '-')}`,
    summary,
    role: role === 'none' ? 'no token' : role,
    lists: lists.filter((list) => list.keys.length > 0),
  };
}

const bodyKeys = ({ title, properties = {}, required = [] }: Body) => ({
  label: title === undefined ? 'body' : `body of ${title}`,
  keys: Object.keys(properties).map((name) => ({ name, required: required.includes(name) })),
});
