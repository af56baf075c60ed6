import type { ActiveRun } from '../state/active-run.ts';

/** The team of a metric's label. */
export type TeamLabel = (run: Pick<ActiveRun, 'namespace' | 'team'>) => string | null;

/** Teams that have series, and those of them that the runs of one namespace made since the start. */
const MOST = { all: 1_000, ofNamespace: 100 };

/**
 * Alerts and definitions name teams, and a series is kept for ever: further ones count as `other`. `known` are those that have
 * series, or may not be missing.
 */
export function boundedTeams(known: Iterable<string>, most = MOST): TeamLabel {
  const seen = new Set(known);
  const made = new Map<string, number>();
  return ({ namespace, team }) => {
    if (team === null || seen.has(team)) return team;
    const before = namespace === null ? 0 : (made.get(namespace) ?? 0);
    if (seen.size >= most.all || before >= most.ofNamespace) return 'other';
    if (namespace !== null) made.set(namespace, before + 1);
    seen.add(team);
    return team;
  };
}
