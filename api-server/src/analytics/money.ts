import type { StepSum } from './sums.ts';

/** Where prices come from (Orchestration 2.10), the most certain first. */
export const PRICE_SOURCES = ['manual', 'live_exact', 'live_cross_provider'] as const;
export type PriceSource = (typeof PRICE_SOURCES)[number];

/** `total`, and each source's share of it, is null where nothing was priced, never 0. */
export interface Cost {
  total: number | null;
  unpriced_steps: number;
  currency: string;
  by_source: Record<PriceSource, number | null>;
}

export interface Tokens {
  input: number;
  output: number;
  total: number;
}

export const sumOf = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((total, item) => total + pick(item), 0);

/** Sums of executions told apart by the source of their price. A step with one part that nobody can price is unpriced as a whole. */
export function costOf(steps: readonly StepSum[], currency: string): Cost {
  const from = (source: string) => {
    const priced = steps.filter(({ costSource }) => costSource === source);
    return priced.length === 0 ? null : sumOf(priced, ({ cost }) => cost);
  };
  const priced = steps.filter(({ costSource }) => costSource !== null);
  return {
    total: priced.length === 0 ? null : sumOf(priced, ({ cost }) => cost),
    unpriced_steps: sumOf(steps, ({ unpriced }) => unpriced),
    currency,
    by_source: {
      manual: from('manual'),
      live_exact: from('live_exact'),
      live_cross_provider: from('live_cross_provider'),
    },
  };
}

export function tokensOf(steps: readonly StepSum[]): Tokens {
  const input = sumOf(steps, ({ inputTokens }) => inputTokens);
  const output = sumOf(steps, ({ outputTokens }) => outputTokens);
  return { input, output, total: input + output };
}
