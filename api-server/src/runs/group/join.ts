/** What one branch brings to its group's join. */
export interface Vote {
  /** A failed branch counts as 0, one without confidence is left out, a skipped one too. */
  trust: number | null;
  failed: boolean;
  weight: number;
}

export type JoinStrategy = 'all_must_pass' | 'any_must_pass' | 'weighted_average';

/** Trust of a group: the lowest, the highest or the weighted mean of its branches; null when none has any. */
export function join(strategy: JoinStrategy, votes: readonly Vote[]): number | null {
  const counted = votes
    .map(({ trust, failed, weight }) => ({ trust: failed ? 0 : trust, weight }))
    .filter((vote): vote is { trust: number; weight: number } => vote.trust !== null);
  if (counted.length === 0) return null;
  const trusts = counted.map(({ trust }) => trust);
  switch (strategy) {
    case 'all_must_pass':
      return Math.min(...trusts);
    case 'any_must_pass':
      return Math.max(...trusts);
    case 'weighted_average': {
      const total = counted.reduce((sum, { weight }) => sum + weight, 0);
      return counted.reduce((sum, { trust, weight }) => sum + trust * weight, 0) / total;
    }
    default:
      return strategy satisfies never;
  }
}
