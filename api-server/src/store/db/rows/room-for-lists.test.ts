import { expect, test } from 'vitest';
import { roomForLists } from './room-for-lists.ts';

const rowOf = (raw: object) => ({ raw_response: JSON.stringify(raw) });
const LOADED = { stepId: 'a', status: 'completed' };

test('of the lists of a run those are read for which there is room, by what their values take', () => {
  const withRoom = roomForLists(20_000);
  const [short, long] = [
    rowOf({ items: ['a', { b: 1 }] }),
    rowOf({ items: [Array.from({ length: 200 }, () => ({}))] }),
  ];
  expect([short, long, short, long].map(withRoom)).toEqual([short, long, short, rowOf({})]);
});

test('where a list is left out, what stands beside it stays', () => {
  const items = [[[']"', 'a\\'], { '\\"]': ['}'] }], ','];
  const left = [{}, { loaded: LOADED }].map((more) => roomForLists(0)(rowOf({ items, ...more })));
  expect(left).toEqual([rowOf({}), rowOf({ loaded: LOADED })]);
});

test('other answers are not looked into', () => {
  const [asked, none] = [rowOf({ prompt: '{"items":[' }), { raw_response: null }];
  expect([asked, none].map(roomForLists(0))).toEqual([asked, none]);
});
