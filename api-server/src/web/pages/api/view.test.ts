import { expect, test } from 'vitest';
import { pagesWith } from '../fixtures/pages-with.ts';
import { apiGroup, apiIndex } from './view.ts';

const json = (schema: object, more: object) => ({ content: { 'application/json': { schema, ...more } } });
const MARK = { $ref: '#/components/schemas/Mark' };
const DESCRIPTION = {
  paths: {
    '/runs/{id}/feedback': {
      post: {
        tags: ['feedback'],
        summary: 'Mark',
        'x-role': 'operator',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
        requestBody: { required: true, ...json(MARK, { example: { outcome: 'correct' } }) },
        responses: {
          200: { description: 'OK', ...json({ type: 'array', items: MARK }, { example: [] }) },
          409: { description: 'No', ...json({}, { examples: { a: { value: { x: 1 } }, b: { value: { x: 2 } } } }) },
        },
      },
    },
    '/health': { get: { tags: ['service'], summary: 'Lives', 'x-role': 'none', responses: {} } },
  },
  components: {
    schemas: {
      Mark: {
        properties: {
          outcome: { enum: ['correct', 'partial'] },
          notes: { anyOf: [{ type: 'string' }, { type: 'null' }] },
          by: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
          status: { $ref: '#/components/schemas/Outcome' },
        },
        required: ['outcome'],
      },
      Outcome: {
        oneOf: [
          { properties: { status: { const: 'accepted' } } },
          { properties: { status: { const: 'queued' }, position: { type: 'number' } } },
        ],
      },
    },
  },
};

test('every route stands in the index and leads to its group', () => {
  const { groups, count } = apiIndex(DESCRIPTION);
  expect(count).toBe('2 routes');
  expect(groups.map(({ name, href }) => [name, href])).toEqual([
    ['feedback', '/ui/docs/feedback'],
    ['service', '/ui/docs/service'],
  ]);
  expect(groups[0]?.routes).toEqual([
    {
      method: 'POST',
      path: '/runs/{id}/feedback',
      summary: 'Mark',
      role: 'operator',
      href: '/ui/docs/feedback#post-runs-id-feedback',
    },
  ]);
  expect(groups[1]?.routes[0]?.role).toBe('no token');
});

test('a group has its routes with the types of parameters, bodies and answers', () => {
  expect(apiGroup(DESCRIPTION, 'feedback')?.routes[0]).toMatchObject({
    method: 'POST',
    anchor: 'post-runs-id-feedback',
    role: 'operator',
    parameters: [{ name: 'id', place: 'path', required: true, type: { text: 'string (uuid)', href: null } }],
    body: { required: true, type: { text: 'Mark', href: '#type-Mark' }, examples: ['{\n  "outcome": "correct"\n}'] },
    answers: [{ status: '200', type: { text: 'Mark[]', href: '#type-Mark' }, examples: ['[]'] }],
    refusals: [{ status: '409', examples: ['{\n  "x": 1\n}', '{\n  "x": 2\n}'] }],
  });
});

test('a group shows the types that it uses, also over other types, and no others', () => {
  expect(apiGroup(DESCRIPTION, 'feedback')?.types.map(({ name }) => name)).toEqual(['Mark', 'Outcome']);
  expect(apiGroup(DESCRIPTION, 'service')?.types).toEqual([]);
  expect(apiGroup(DESCRIPTION, 'nosuch')).toBeNull();
});

test('a type lists its fields, those of nested objects too, and each variant of a union', () => {
  const [mark, outcome] = apiGroup(DESCRIPTION, 'feedback')?.types ?? [];
  expect(mark?.shapes[0]?.fields.map(({ path, required, text }) => [path, required, text])).toEqual([
    ['outcome', true, '"correct" | "partial"'],
    ['notes', false, 'string | null'],
    ['by', false, 'object[]'],
    ['by[].name', false, 'string'],
    ['status', false, 'Outcome'],
  ]);
  expect(outcome?.shapes.map(({ label, fields }) => [label, fields.length])).toEqual([
    ['status: "accepted"', 1],
    ['status: "queued"', 2],
  ]);
});

test('an unknown group is a page that leads back', async () => {
  const { get } = await pagesWith();
  const { statusCode, body } = await get('/ui/docs/nosuch');
  expect(statusCode).toBe(404);
  expect(body).toContain('href="/ui/docs"');
});
