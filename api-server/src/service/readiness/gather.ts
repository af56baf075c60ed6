import { setImmediate as breathe } from 'node:timers/promises';
import type { Pipeline } from '@signalbox/crds';
import { type Gathered, startEvidence } from '../../analytics/readiness/readiness.ts';
import type { EvidenceRow } from '../../analytics/readiness/evidence.ts';
import type { VersionOf } from '../../analytics/readiness/scope.ts';

export interface GatherDeps {
  /** A page of runs of a pipeline at a stage, newest first; `next` is the cursor of the older ones. */
  readRows(slice: { pipeline: string; stage: Pipeline['stage']; before: number | null; runs: number }): Promise<{
    rows: EvidenceRow[];
    next: number | null;
  }>;
  /** The agents that the backends report; a backend that is down reports none. */
  agentVersions(): Promise<VersionOf>;
  now(): number;
}

/** Runs per read: few, so that other requests run between two reads. */
const SLICE = 100;
/** Limit of executions; a fan-out may have hundreds per run. */
const MAX_RUNS = 10_000;
const MAX_ROWS = 100_000;

/** Reads the evidence of a pipeline at its present stage, newest runs first. */
export async function gatherEvidence(deps: GatherDeps, pipeline: Pipeline): Promise<Gathered> {
  const at = deps.now();
  const versions = deps.agentVersions();
  const evidence = startEvidence(pipeline);
  let before: number | null = null;
  let [runs, rows] = [0, 0];
  do {
    const slice = await deps.readRows({ pipeline: pipeline.name, stage: pipeline.stage, before, runs: SLICE });
    for (const row of slice.rows) evidence.add(row);
    before = slice.next;
    runs += SLICE;
    rows += slice.rows.length;
    await breathe();
  } while (before !== null && runs < MAX_RUNS && rows < MAX_ROWS);
  return { evidence, versionOf: await versions, at, cut: before !== null };
}
