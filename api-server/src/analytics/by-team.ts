import type { RunSum, StepSum } from './sums.ts';

export interface TeamSums {
  runs: readonly RunSum[];
  steps: readonly StepSum[];
}

/** The sums of each team, those of no team under null. */
export function byTeam({ runs, steps }: TeamSums): { names: Set<string | null>; of(team: string | null): TeamSums } {
  const teamOf = ({ team }: { team: string | null }) => team;
  const [ran, asked] = [Map.groupBy(runs, teamOf), Map.groupBy(steps, teamOf)];
  return {
    names: new Set([...ran.keys(), ...asked.keys()]),
    of: (team) => ({ runs: ran.get(team) ?? [], steps: asked.get(team) ?? [] }),
  };
}

/** By name, no team last. */
export const sortedTeams = (names: ReadonlySet<string | null>): (string | null)[] => [
  ...[...names].filter((team) => team !== null).toSorted(),
  ...(names.has(null) ? [null] : []),
];
