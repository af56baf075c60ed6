import { expect, test } from 'vitest';
import { apiView } from './view.ts';

test('routes are grouped by the first part of their path, with their keys by place', () => {
  const operation = { summary: 'Mark', 'x-role': 'operator', parameters: [{ name: 'id', in: 'path', required: true }] };
  const schema = { properties: { outcome: {}, notes: {} }, required: ['outcome'] };
  const { groups, count } = apiView({
    paths: {
      '/runs/{id}/feedback': {
        post: { ...operation, requestBody: { content: { 'application/json': { schema } } } },
      },
      '/health': { get: { summary: 'Lives', 'x-role': 'none', parameters: [] } },
    },
  });
  expect(count).toBe('2 routes');
  expect(groups.map(({ name }) => name)).toEqual(['runs', 'health']);
  expect(groups[0]?.routes[0]).toMatchObject({
    method: 'POST',
    anchor: 'post-runs-id-feedback',
    role: 'operator',
    lists: [
      { label: 'path', keys: [{ name: 'id', required: true }] },
      {
        label: 'body',
        keys: [
          { name: 'outcome', required: true },
          { name: 'notes', required: false },
        ],
      },
    ],
  });
  expect(groups[1]?.routes[0]?.role).toBe('no token');
});
