import type { PriceOf } from '../../runs/cost/cost.ts';

/** Which model would answer. */
export interface Priced {
  provider: string | null;
  model: string | null;
}

/** What past calls used; null where they reported none. */
export interface Tokens {
  inputTokens: number | null;
  outputTokens: number | null;
}

/** What `count` calls would cost (Orchestration 2.10); money is null, never 0, where no price or no basis is known. */
export interface Estimate {
  total: number | null;
  perSample: number | null;
  meanInputTokens: number | null;
  meanOutputTokens: number | null;
  tier: string | null;
  /** Past calls that the means are of. */
  basisN: number;
  reason: string | null;
}

export function estimate(
  priceOf: PriceOf,
  { count, model, past }: { count: number; model: Priced; past: readonly Tokens[] },
): Estimate {
  const basis = past.filter(({ inputTokens, outputTokens }) => inputTokens !== null || outputTokens !== null);
  const mean = (pick: (tokens: Tokens) => number | null): number | null =>
    basis.length === 0 ? null : basis.reduce((sum, tokens) => sum + (pick(tokens) ?? 0), 0) / basis.length;
  const [meanInputTokens, meanOutputTokens] = [mean((one) => one.inputTokens), mean((one) => one.outputTokens)];
  const means = { meanInputTokens, meanOutputTokens, basisN: basis.length };
  const price =
    basis.length === 0 ? null : priceOf({ ...model, inputTokens: meanInputTokens, outputTokens: meanOutputTokens });
  if (!price || count === 0) return { ...means, total: null, perSample: null, tier: null, reason: null };
  return {
    ...means,
    total: price.cost * count,
    perSample: price.cost,
    tier: price.source,
    reason: `price of ${model.model} at ${model.provider}, for the mean of ${basis.length} recorded calls`,
  };
}
