import { runChecks, type CheckDeps } from './checks.ts';
import type { Evidence } from './gate.ts';
import { ground } from './ground.ts';
import type { CheckResult, RawResponse } from './model.ts';
import type { Counter } from './records.ts';
import { verifierCounters } from './rollups.ts';
import type { CallFacts } from './step-kind.ts';
import type { Begun } from './step-rows.ts';
import { verdictOf, verify, type OpinionDeps, type Subject } from './verify.ts';

/** The identity of a calibration bucket, and the confidence to look up in it (Orchestration 2.9). */
export interface CalibrationQuery {
  stepName: string;
  agent: string | null;
  provider: string | null;
  model: string | null;
  promptHash: string | null;
  agentVersion: string | null;
  confidence: number;
}

export interface EvidenceDeps extends OpinionDeps, CheckDeps {
  /** The measured share of correct answers at this confidence; null while the bin is not validated. */
  calibratedMean(query: CalibrationQuery): Promise<number | null>;
}

export interface Gathered {
  evidence: Evidence;
  checks: CheckResult[];
  raw: Partial<RawResponse>;
  counters: Counter[];
  /** The run ends as this, whatever the gate would say. */
  verdict: { status: 'aborted' | 'escalated'; message: string } | null;
}

/** Gathers all signals of an answer: checks, verifier and grounding at the same time, then calibration (Design 3). */
export async function gatherEvidence(deps: EvidenceDeps, begun: Begun, subject: Subject & { facts: CallFacts }): Promise<Gathered> {
  const [checked, opinion, grounded] = await Promise.all([
    runChecks(deps, begun, subject),
    verify(deps, begun, subject),
    ground(deps, begun, subject),
  ]);
  const { step } = begun;
  const confidence = subject.answer.confidence;
  const verifier = 'verifier' in step && step.verifier && opinion ? verdictOf(step.verifier, opinion.score) : null;
  const checks = checked.ok ? checked.checks : [];
  const evidence: Evidence = {
    confidence,
    verifier,
    calibrated: await calibrated(deps, begun, subject, verifier),
    grounding: grounded && 'grounding' in step ? { score: grounded.score, enforced: step.grounding?.enforce ?? false } : null,
    checksPassed: checks.length === 0 ? null : checks.every(({ passed }) => passed),
  };
  const overrode = verifier !== null && confidence !== null && verifier < confidence;
  return {
    evidence,
    checks,
    raw: { ...(opinion ? { verifier: opinion } : {}), ...(grounded ? { grounding: grounded } : {}) },
    counters: opinion && opinion.error === undefined ? verifierCounters(begun.run, opinion.agent, overrode) : [],
    verdict: verdictFor(begun, checked.ok ? null : checked.aborted, evidence),
  };
}

async function calibrated(
  deps: EvidenceDeps,
  { step, row }: Begun,
  { answer, facts }: Subject & { facts: CallFacts },
  verifier: number | null,
): Promise<Evidence['calibrated']> {
  const rule = 'calibration' in step ? step.calibration : undefined;
  if (!rule || answer.confidence === null) return null;
  const value = await deps.calibratedMean({
    stepName: row.step_name.split('/')[0] ?? row.step_name,
    agent: row.agent,
    provider: facts.provider,
    model: facts.model,
    promptHash: row.prompt_hash,
    agentVersion: facts.agentVersion,
    confidence: verifier === null ? answer.confidence : Math.min(answer.confidence, verifier),
  });
  return { value, enforced: rule.enforce };
}

function verdictFor({ step }: Begun, aborted: string | null, { calibrated: measured }: Evidence): Gathered['verdict'] {
  if (aborted !== null) return { status: 'aborted', message: aborted };
  const rule = 'calibration' in step ? step.calibration : undefined;
  if (!rule?.enforce || !measured || measured.value !== null || rule.on_uncalibrated === 'proceed') return null;
  return { status: 'escalated', message: 'calibration is enforced and there are too few marked outcomes at this confidence' };
}
