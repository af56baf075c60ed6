import { expect, test } from 'vitest';
import { ViewsBlock } from './views-schema.ts';

const view = (filters: object, name = 'x') => ({ shop: [{ name, filters }] });

test.each([
  ['an unknown filter', view({ colour: 'red' }), 'is unknown; there are q, status'],
  ['no filter', view({}), 'is empty'],
  ['no name', view({ q: 'x' }, ''), 'is empty'],
  ['too many views', { shop: Array.from({ length: 51 }, () => ({ name: 'x', filters: { q: 'x' } })) }, 'more than 50'],
])('%s is refused', (_, written, message) => {
  expect(ViewsBlock.safeParse(written).error?.message).toContain(message);
});

test('without the block there are no views', () => {
  expect(ViewsBlock.parse(undefined)).toEqual({});
});
