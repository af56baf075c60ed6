/** A run's page names the runs that repeat it. */
export const reruns = (): readonly string[] => [
  'CREATE INDEX runs_rerun_of ON runs (rerun_of, seq) WHERE rerun_of IS NOT NULL',
];
