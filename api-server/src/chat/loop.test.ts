import { expect, test } from 'vitest';
import { keepOn } from './loop.ts';

test.each([
  ['a minute', 60_000, 60_000],
  ['longer than a timer can wait', 2 ** 40, 60 * 60_000],
  ['no number', Number.NaN, 500],
  ['nothing', undefined, 500],
])(
  'where a chat service asks for a pause of %s, the next turn waits as long as is sensible',
  async (_, afterMs, most) => {
    const stopping = new AbortController();
    const waits: number[] = [];
    const delay = async (milliseconds: number) => {
      waits.push(milliseconds);
      stopping.abort();
    };
    const turn = async () => ({ ok: false as const, message: 'not now', ...(afterMs !== undefined && { afterMs }) });
    await keepOn({ delay, warn: () => {} }, stopping.signal, turn);
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeLessThanOrEqual(most);
    expect(waits[0]).toBeGreaterThan(most / 3);
  },
);

test('a turn that throws is the end of that turn, and not of the listening', async () => {
  const stopping = new AbortController();
  const warned: string[] = [];
  let turns = 0;
  const turn = async () => {
    turns += 1;
    if (turns === 1) throw new SyntaxError('Invalid URL: wss:');
    stopping.abort();
    return { ok: true as const };
  };
  await keepOn({ delay: async () => {}, warn: (message) => void warned.push(message) }, stopping.signal, turn);
  expect([turns, warned]).toEqual([2, ['a chat cannot be heard: Invalid URL: wss:']]);
});
