import { expect, test } from 'vitest';
import { shownTools, toldTools } from './told-tools.ts';

const toolOf = (name: string, description = '', server = 'img') => ({
  server,
  name,
  description,
  inputSchema: {},
  annotations: {},
});
const listOf = (...tools: ReturnType<typeof toolOf>[]) => ({
  tools,
  hash: '',
  chars: JSON.stringify(tools).length,
});
const servers = new Set(['img']);
const many = (count: number, prefix: string) => Array.from({ length: count }, (_, at) => toolOf(`${prefix}${at}`));

test('of servers that are not in its pods an agent has nothing to say', async () => {
  const lists = [listOf(toolOf('get', '', 'k8s'), toolOf('look'))];
  expect(toldTools({ lists, servers })).toEqual([toolOf('look')]);
  expect(await shownTools([{ lists, servers }])).toEqual([toolOf('look')]);
});

test('each tool is there once, as the last pod said, and no more than a thousand', () => {
  const lists = [listOf(toolOf('look', 'old')), listOf(toolOf('look', 'new'))];
  expect(toldTools({ lists, servers })).toEqual([toolOf('look', 'new')]);
  expect(toldTools({ lists: [listOf(...many(900, 'a')), listOf(...many(900, 'b'))], servers })).toHaveLength(1000);
});

test('the pods of an agent with long definitions do not take the place of others in the list of all', async () => {
  const hostile = Array.from({ length: 20 }, (_, at) => ({
    lists: [listOf(...Array.from({ length: 10 }, (__, tool) => toolOf(`${at}-${tool}`, '\u0142'.repeat(100_000))))],
    servers,
  }));
  const small = { lists: [listOf(toolOf('look', 'looks'))], servers };
  const shown = await shownTools([...hostile, small]);
  expect(shown).toContainEqual(toolOf('look', 'looks'));
  expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(2 * 1024 * 1024);
  expect(shown.length).toBeGreaterThan(5);
});

test('nor do those with many tools', async () => {
  const agents = Array.from({ length: 10 }, (_, at) => ({ lists: [listOf(...many(1000, `${at}-`))], servers }));
  expect(await shownTools(agents)).toHaveLength(5000);
});
