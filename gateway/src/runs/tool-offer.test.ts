import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { offerTools } from './tool-offer.ts';

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
