import { runChecks, type CheckDeps } from './checks.ts';
import type { Evidence } from './gate.ts';
import { ground } from './ground.ts';
import type { CheckResult, RawResponse, SecondOpinion } from '../state/model.ts';
import { family } from '../state/hourly.ts';
import type { Counter } from '../state/records.ts';
import { verifierCounters } from '../state/rollups.ts';
import type { CallFacts } from '../state/step-kind.ts';
import { untilAnswered } from '../state/until-answered.ts';
import type { Begun } from './step-execution.ts';
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
  /** Resolves false when the signal aborts first. */
  delay(milliseconds: number, signal: AbortSignal): Promise<boolean>;
}

export interface Gathered {
  evidence: Evidence;
  checks: CheckResult[];
  raw: Partial<RawResponse>;
  counters: Counter[];
  /** The run ends as this, whatever the gate would say. */
  verdict: { status: 'aborted' | 'escalated'; message: string } | null;
}

type Asked = Subject & { facts: CallFacts };

/** Gathers all signals of an answer: checks, verifier and grounding at the same time, then calibration. */
export async function gatherEvidence(deps: EvidenceDeps, begun: Begun, subject: Asked): Promise<Gathered> {
  const [checked, opinion, grounded] = await Promise.all([
    runChecks(deps, begun, subject),
    verify(deps, begun, subject),
    ground(deps, begun, subject),
  ]);
  const rules = rulesOf(begun);
  const { confidence } = subject.answer;
  const verifier = rules.verifier && opinion ? verdictOf(rules.verifier, opinion.score) : null;
  const checks = checked.ok ? checked.checks : [];
  const evidence: Evidence = {
    confidence,
    verifier,
    calibrated: await calibrated(deps, begun, subject, verifier),
    grounding: rules.grounding && grounded ? { score: grounded.score, enforced: rules.grounding.enforce } : null,
    checksPassed: checks.length === 0 ? null : checks.every(({ passed }) => passed),
  };
  const counters =
    opinion && !opinion.error ? verifierCounters(begun.run, opinion.agent, lowers(verifier, confidence)) : [];
  const aborted = checked.ok ? null : checked.aborted;
  return {
    evidence,
    checks,
    raw: opinions(opinion, grounded),
    counters,
    verdict: verdictFor(begun, aborted, evidence),
  };
}

const lowers = (verifier: number | null, confidence: number | null): boolean =>
  verifier !== null && confidence !== null && verifier < confidence;

const opinions = (verifier: SecondOpinion | null, grounding: SecondOpinion | null): Partial<RawResponse> => ({
  ...(verifier && { verifier }),
  ...(grounding && { grounding }),
});

/** Only steps that ask an agent have rules of evidence. */
function rulesOf({ step }: Begun) {
  if (step.executor !== 'gateway' && step.executor !== 'external') return {};
  const { verifier, grounding, calibration } = step;
  return { verifier, grounding, calibration };
}

async function calibrated(
  deps: EvidenceDeps,
  begun: Begun,
  { answer, facts }: Asked,
  verifier: number | null,
): Promise<Evidence['calibrated']> {
  const rule = rulesOf(begun).calibration;
  if (!rule || answer.confidence === null) return null;
  const { row } = begun;
  const query = {
    stepName: family(row.stepName),
    agent: row.agent,
    provider: facts.provider,
    model: facts.model,
    promptHash: row.promptHash,
    agentVersion: facts.agentVersion,
    confidence: verifier === null ? answer.confidence : Math.min(answer.confidence, verifier),
  };
  const value = await untilAnswered(deps, begun.run, () => deps.calibratedMean(query));
  return { value, enforced: rule.enforce };
}

function verdictFor(begun: Begun, aborted: string | null, { calibrated: measured }: Evidence): Gathered['verdict'] {
  if (aborted !== null) return { status: 'aborted', message: aborted };
  const rule = rulesOf(begun).calibration;
  if (!rule?.enforce || !measured || measured.value !== null || rule.on_uncalibrated === 'proceed') return null;
  const message = 'calibration is enforced and there are too few marked outcomes at this confidence';
  return { status: 'escalated', message };
}
