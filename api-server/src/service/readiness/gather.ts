import { setImmediate as breathe } from 'node:timers/promises';
import { type Gathered, startEvidence } from '../../analytics/readiness/readiness.ts';
import type { Subject } from '../../analytics/readiness/steps.ts';
import type { EvidenceBatch, EvidenceOf } from '../../analytics/readiness/executions.ts';
import { type AgentVersions, versionIn } from '../../executors/agents.ts';

export interface GatherDeps {
  /** The executions of a pipeline's runs at one stage, some runs at a time, the newest first. */
  readEvidence(of: EvidenceOf): AsyncIterable<EvidenceBatch>;
  /** The agents that the backends report; a backend that is down reports none. */
  agentVersions(): Promise<AgentVersions>;
  now(): number;
}

/** No more are read after these; a fan-out may have hundreds of executions per run. */
const MAX_RUNS = 10_000;
const MAX_ROWS = 100_000;

/** Reads the evidence of a pipeline at its present stage, newest runs first. */
export async function gatherEvidence(deps: GatherDeps, subject: Subject): Promise<Gathered> {
  const at = deps.now();
  const versions = deps.agentVersions();
  const evidence = startEvidence(subject);
  let [runs, rows, cut] = [0, 0, false];
  for await (const batch of deps.readEvidence({ pipeline: subject.name, stage: subject.stage })) {
    cut = runs >= MAX_RUNS || rows >= MAX_ROWS;
    if (cut) break;
    evidence.add(batch);
    runs += batch.runs.length;
    rows += batch.columns.run.length;
    await breathe();
  }
  return { evidence, versionOf: versionIn(await versions), at, cut };
}
