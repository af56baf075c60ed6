import type { StepSum } from './sums.ts';

export const sumOf = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((total, item) => total + pick(item), 0);

/**
 * Sums of executions by the source of their price (Orchestration 2.10). `total`, and the share of each source, is null where
 * nothing was priced, never 0. A step with a call that has no price counts as unpriced; its other calls are in the total.
 */
export function costOf(steps: readonly StepSum[], currency: string) {
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

export function tokensOf(steps: readonly StepSum[]) {
  const input = sumOf(steps, ({ inputTokens }) => inputTokens);
  const output = sumOf(steps, ({ outputTokens }) => outputTokens);
  return { input, output, total: input + output };
}
