import { expect, test } from 'vitest';
import { CONNECTION_LIMITS, isFull, type Peer } from './connection-limits.ts';

const from = (token: string, address: string, count: number): Peer[] =>
  Array.from({ length: count }, () => ({ token, address }));
const hosts = (token: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({ token, address: `h${at}` }));

test.each<[string, Peer[], boolean]>([
  ['499 of the same token and address', from('invoke', 'a', 499), false],
  ['500 of the same token and address', from('invoke', 'a', 500), true],
  ['500 of the same address with another token', from('approve', 'a', 500), false],
  ['999 of the same token', hosts('invoke', 999), false],
  ['1000 of the same token', hosts('invoke', 1000), true],
  ['1000 with another token', hosts('approve', 1000), false],
  ['2000 of others', [...hosts('approve', 1000), ...hosts('admin', 1000)], true],
])('%s: no room is %s', (_, open, full) => {
  expect(isFull(open, { token: 'invoke', address: 'a' }, CONNECTION_LIMITS)).toBe(full);
});
