import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { offerTools } from './tool-offer.ts';

const toolOf = (server: string, name: string) => ({ server, name, description: '', inputSchema: {}, annotations: {} });

test('every tool has a name of its own, also where the name with a hash is the name of another', async () => {
  const hash = createHash('sha256').update('a__x/t').digest('hex').slice(0, 8);
  const tools = [toolOf('a', 'x__t'), toolOf('a', `x__t_${hash}`), toolOf('a__x', 't')];
  const { byName, forModel } = await offerTools(
    { tools: ['a', 'a__x'], require_approval: [], read_only: false },
    tools,
  );
  expect([...byName.values()].map(({ server, tool }) => `${server}/${tool}`)).toEqual(
    tools.map(({ server, name }) => `${server}/${name}`),
  );
  expect(forModel.map(({ name }) => name)).toEqual([...byName.keys()]);
});

test('other work goes on while many tools are offered, and each entry that matches none is told', async () => {
  const nothing = Array.from({ length: 60 }, (_, index) => `host/*${'a?'.repeat(60)}${index}b`);
  const tools = ['host/*_1', ...nothing, 'host/*_2'];
  const available = Array.from({ length: 1000 }, (_, index) => toolOf('host', `${'a'.repeat(250)}_${index}`));
  const ended: string[] = [];
  const other = new Promise<void>((resolve) => {
    setImmediate(() => {
      ended.push('other');
      resolve();
    });
  });
  const offered = offerTools({ tools, require_approval: ['host/*_2'], read_only: false }, available).then((offer) => {
    ended.push(`${offer.forModel.length} offered`);
    return offer;
  });
  const [{ byName, warnings }] = await Promise.all([offered, other]);
  expect(ended).toEqual(['other', '2 offered']);
  expect([...byName.values()].map(({ needsApproval }) => needsApproval)).toEqual([false, true]);
  expect(warnings).toEqual(nothing.map((pattern) => `no tool matches ${pattern} of the agent's tools`));
});
