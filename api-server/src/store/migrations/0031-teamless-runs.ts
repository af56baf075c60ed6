/** Finds runs without a team, where most have one. */
export const teamlessRuns = (): readonly string[] => [
  `CREATE INDEX runs_without_team ON runs (seq) WHERE team IS NULL`,
];
