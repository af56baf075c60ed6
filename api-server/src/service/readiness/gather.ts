import { setImmediate as breathe } from 'node:timers/promises';
import type { Pipeline } from '@signalbox/crds';
import { type Gathered, startEvidence } from '../../analytics/readiness/readiness.ts';
import type { EvidenceRow } from '../../analytics/readiness/evidence.ts';
import type { VersionOf } from '../../analytics/readiness/scope.ts';

export interface GatherDeps {
  /** Some runs of a pipeline at a stage, newest first; `next` is where the older ones go on. */
  readRows(slice: { pipeline: string; stage: Pipeline['stage']; before: number | null; runs: number }): Promise<{
    rows: EvidenceRow[];
    next: number | null;
  }>;
  /** What the backends say of their agents; whoever is down says nothing. */
  agentVersions(): Promise<VersionOf>;
  now(): number;
}

/** Runs read at once: few, so that others get their turn between two reads. */
const SLICE = 100;
/** What is looked at at most; a fan-out may bring hundreds of executions a run. */
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
