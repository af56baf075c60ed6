import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, test } from 'vitest';
import { listTools } from './list-tools.ts';

const listed = (...tools: object[]) => {
  const client = { getServerCapabilities: () => ({ tools: {} }), request: async () => ({ tools }) };
  return listTools(client as unknown as Client, 1000);
};
const tool = (inputSchema: object, more: object = {}) => ({ name: 'look', inputSchema, ...more });
const times = (count: number, value: unknown) => Array.from({ length: count }, () => value);

test('of a tool its name, description, schema and hints are kept as they are', async () => {
  const schema = {
    type: 'object',
    properties: { at: { type: 'string' } },
    required: ['at'],
    additionalProperties: false,
  };
  const whole = { description: 'looks', annotations: { title: 'Look', readOnlyHint: true } };
  expect(await listed(tool(schema, { ...whole, icons: 'none', _meta: 1 }))).toEqual([tool(schema, whole)]);
  expect(await listed(tool({ type: 'object' }))).toEqual([
    { ...tool({ type: 'object' }), description: '', annotations: {} },
  ]);
});

test.each([
  ['tools that are none', times(900, {})],
  ['what is required and no name', [tool({ type: 'object', required: times(40_000, 0) })]],
  ['properties that are none', [tool({ type: 'object', properties: { ...times(40_000, 0) } })]],
  ['properties in a list', [tool({ type: 'object', properties: [] })]],
  ['a schema of a text', [tool({ type: 'string' })]],
])('a list with %s is refused for the first of them', async (_what, tools) => {
  const error = await listed(...(tools as object[])).catch((refused: Error) => refused);
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message.length).toBeLessThan(1000);
});

test('a page with more tools than a server may have is not looked at', async () => {
  await expect(listed(...(times(1001, {}) as object[]))).rejects.toThrow('offers more than 1000 tools');
});
