import type { EvidenceOf } from '../../analytics/readiness/executions.ts';
import { evaluateReadiness } from '../../analytics/readiness/readiness.ts';
import type { Subject } from '../../analytics/readiness/steps.ts';
import type { BinRule } from '../../analytics/readiness/tiers.ts';
import type { AgentVersions } from '../../executors/agents.ts';
import { readEvidence } from '../../store/aggregates/evidence/read-evidence.ts';
import type { Question } from '../../store/db/database.ts';
import { gatherEvidence } from './gather.ts';

export interface AskedReadiness {
  subject: Subject;
  versions: AgentVersions;
  bins: BinRule;
  now: number;
}

/** A `ReadinessReport`. */
export const answer: Question['answer'] = async (db, asked) => {
  const { subject, versions, bins, now } = asked as AskedReadiness;
  const deps = { readEvidence: (of: EvidenceOf) => readEvidence(() => db, of), now: () => now };
  const gathered = await gatherEvidence({ ...deps, agentVersions: () => Promise.resolve(versions) }, subject);
  return evaluateReadiness(subject, gathered, bins);
};
