import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { discoveredTools, offerTools } from './tool-offer.ts';

const AGENT = { tools: ['host'], require_approval: [], read_only: false };

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

test('the definition of a tool is hashed once, however many agents list it, and again where it changed', () => {
  const { inputSchema, reads } = watched({ type: 'object' });
  const tool = { server: 'host', name: 'look', description: 'looks', inputSchema, annotations: {} };
  const [first] = discoveredTools(AGENT, [tool]);
  const after = reads();
  // Lists of tools are made anew for each question.
  for (let agents = 0; agents < 200; agents++) expect(discoveredTools(AGENT, [{ ...tool }])).toEqual([first]);
  expect(reads()).toBe(after);
  expect(discoveredTools(AGENT, [{ ...tool, description: 'reads' }])[0]?.hash).not.toBe(first?.hash);
});

const toolOf = (server: string, name: string) => ({ server, name, description: '', inputSchema: {}, annotations: {} });

test('every tool has a name of its own, also where the name with a hash is the name of another', () => {
  const hash = createHash('sha256').update('a__x/t').digest('hex').slice(0, 8);
  const tools = [toolOf('a', 'x__t'), toolOf('a', `x__t_${hash}`), toolOf('a__x', 't')];
  const { byName, forModel } = offerTools({ tools: ['a', 'a__x'], require_approval: [], read_only: false }, tools);
  expect([...byName.values()].map(({ server, tool }) => `${server}/${tool}`)).toEqual(
    tools.map(({ server, name }) => `${server}/${name}`),
  );
  expect(forModel.map(({ name }) => name)).toEqual([...byName.keys()]);
});
