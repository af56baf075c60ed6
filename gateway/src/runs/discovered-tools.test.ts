import { expect, test } from 'vitest';
import { createDiscovery } from './discovered-tools.ts';

const agentOf = (...tools: string[]) => ({ tools, require_approval: [], read_only: false });
const toolOf = (name: string, inputSchema: Record<string, unknown> = {}) => ({
  server: 'host',
  name,
  description: 'looks',
  inputSchema,
  annotations: {},
});

/** Counts how often its keys are read. */
function watched(schema: object) {
  let reads = 0;
  const inputSchema = new Proxy(schema, {
    ownKeys: (target) => {
      reads += 1;
      return Reflect.ownKeys(target);
    },
  }) as Record<string, unknown>;
  return { inputSchema, reads: () => reads };
}

test('the definition of a tool is hashed once, however many agents list it, and again where it changed', async () => {
  const discover = createDiscovery();
  const { inputSchema, reads } = watched({ type: 'object' });
  const tool = toolOf('look', inputSchema);
  const [first] = await discover(agentOf('host'), [tool]);
  const after = reads();
  // Lists of tools are made anew for each question.
  for (let agents = 0; agents < 200; agents++) expect(await discover(agentOf('host'), [{ ...tool }])).toEqual([first]);
  expect(reads()).toBe(after);
  expect((await discover(agentOf('host'), [{ ...tool, description: 'reads' }]))[0]?.hash).not.toBe(first?.hash);
});

test('the tools of an agent are found once for the same definitions, and those of other servers do not matter', async () => {
  const discover = createDiscovery();
  const agent = agentOf('host/*_load', 'host/read_*');
  const tools = [toolOf('read_load'), toolOf('read_disk'), toolOf('write')];
  const found = discover(agent, tools);
  expect((await found).map(({ name }) => name)).toEqual(['read_disk', 'read_load']);
  expect(discover(agent, [{ ...toolOf('read_all'), server: 'other' }, ...tools.map((tool) => ({ ...tool }))])).toBe(
    found,
  );
  expect(await discover(agent, tools.slice(1))).toHaveLength(1);
  expect(await discover(agent, tools)).toEqual(await found);
  const { tools: patterns, ...rest } = agent;
  expect(await discover({ ...rest, tools: patterns, read_only: true }, tools)).toEqual([]);
});

test('other work goes on while many tools are compared with many patterns', async () => {
  const patterns = Array.from({ length: 64 }, (_, index) => `host/*${'a?'.repeat(60)}${index}b`);
  const tools = Array.from({ length: 1000 }, (_, index) => toolOf(`${'a'.repeat(250)}${index}`));
  const ended: string[] = [];
  const other = new Promise<void>((resolve) => {
    setImmediate(() => {
      ended.push('other');
      resolve();
    });
  });
  const discovered = createDiscovery()(agentOf(...patterns), tools).then((found) =>
    ended.push(`${found.length} found`),
  );
  await Promise.all([other, discovered]);
  expect(ended).toEqual(['other', '0 found']);
});
