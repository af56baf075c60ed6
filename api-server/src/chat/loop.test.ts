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
