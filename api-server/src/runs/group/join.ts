/** What one branch brings to its group's join. */
export interface Vote {
  name: string;
  /** A failed branch counts as 0, one without confidence is left out, a skipped one too. */
  trust: number | null;
  failed: boolean;
  weight: number;
}

export type JoinStrategy = 'all_must_pass' | 'any_must_pass' | 'weighted_average';

/** A vote as it counts; null where it does not. */
const countedTrust = ({ failed, trust }: Vote): number | null => (failed ? 0 : trust);

/** Trust of a group: the lowest, the highest or the weighted mean of its branches; null when none has any. */
export function join(strategy: JoinStrategy, votes: readonly Vote[]): number | null {
  const counted = votes
    .map((vote) => ({ trust: countedTrust(vote), weight: vote.weight }))
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

/** Failed branches that a sentence names. */
const MOST_NAMED = 5;

const branches = (count: number): string => (count === 1 ? 'branch' : 'branches');

/** What made the trust of a group what it is, in words. */
export function decidedBy(strategy: JoinStrategy, votes: readonly Vote[]): string {
  const failed = votes.filter((vote) => vote.failed).map(({ name }) => name);
  const names = failed.slice(0, MOST_NAMED).join(', ') + (failed.length > MOST_NAMED ? ', …' : '');
  const failures = `${failed.length} failed ${branches(failed.length)} of ${votes.length}: ${names}`;
  const all = `${votes.length} ${branches(votes.length)}`;
  if (strategy === 'weighted_average')
    return `${strategy} over ${all}${failed.length === 0 ? '' : `, with ${failures}`}`;
  if (strategy === 'all_must_pass' && failed.length > 0) return failures;
  const trust = join(strategy, votes);
  const decisive = votes.find((vote) => countedTrust(vote) === trust)?.name ?? '';
  return `${decisive}, the ${strategy === 'all_must_pass' ? 'lowest' : 'highest'} of ${all}`;
}
