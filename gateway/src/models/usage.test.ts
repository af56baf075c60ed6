import { expect, test } from 'vitest';
import { usageOf } from './usage.ts';

/** What is kept where a provider says this number of everything. */
function keptOf(said: number | undefined) {
  const inputTokens = { total: said, noCache: said, cacheRead: said, cacheWrite: said };
  return usageOf({ inputTokens, outputTokens: { total: said, text: said, reasoning: said } });
}

test.each([0, 1, 1_000_000_000])('%s tokens count', (said) => {
  expect(keptOf(said)).toEqual({ input: said, output: said, cachedInput: said });
});

test.each([-1, 0.5, 1_000_000_001, 1e308, Number.NaN, Infinity, -Infinity, undefined])(
  '%s tokens are as good as not said',
  (said) => {
    expect(keptOf(said)).toEqual({ input: null, output: null, cachedInput: null });
  },
);
