import { expect, test } from 'vitest';
import { apiView } from './view.ts';

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

test('routes are grouped by their tag, with the types of parameters, bodies and answers', () => {
  const { groups, count } = apiView(DESCRIPTION);
  expect(count).toBe('2 routes');
  expect(groups.map(({ name }) => name)).toEqual(['feedback', 'service']);
  expect(groups[0]?.routes[0]).toMatchObject({
    method: 'POST',
    anchor: 'post-runs-id-feedback',
    role: 'operator',
    parameters: [{ name: 'id', place: 'path', required: true, type: { text: 'string (uuid)', href: null } }],
    body: { required: true, type: { text: 'Mark', href: '#type-Mark' }, examples: ['{\n  "outcome": "correct"\n}'] },
    answers: [{ status: '200', type: { text: 'Mark[]', href: '#type-Mark' }, examples: ['[]'] }],
    refusals: [{ status: '409', examples: ['{\n  "x": 1\n}', '{\n  "x": 2\n}'] }],
  });
  expect(groups[1]?.routes[0]?.role).toBe('no token');
});

test('a type lists its fields, those of nested objects too, and each variant of a union', () => {
  const [mark, outcome] = apiView(DESCRIPTION).types;
  expect(mark?.shapes[0]?.fields.map(({ path, required, text }) => [path, required, text])).toEqual([
    ['outcome', true, '"correct" | "partial"'],
    ['notes', false, 'string | null'],
    ['by', false, 'object[]'],
    ['by[].name', false, 'string'],
  ]);
  expect(outcome?.shapes.map(({ label, fields }) => [label, fields.length])).toEqual([
    ['status: "accepted"', 1],
    ['status: "queued"', 2],
  ]);
});
