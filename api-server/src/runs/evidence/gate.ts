import type { TrustReport, TrustSignal } from '../state/model.ts';

/** The evidence of one step; null = not computed. Numbers are in 0..1. */
export interface Evidence {
  confidence: number | null;
  verifier: number | null;
  calibrated: { value: number | null; enforced: boolean } | null;
  grounding: { score: number | null; enforced: boolean } | null;
  checksPassed: boolean | null;
}

/** Evidence that is a confidence and nothing else, or not even that. */
export const confidenceAlone = (confidence: number | null): Evidence => ({
  confidence,
  verifier: null,
  calibrated: null,
  grounding: null,
  checksPassed: null,
});

export interface GateRule {
  threshold: number;
  onLow: 'escalate' | 'abort' | 'proceed';
  /** Where the confidence comes from, in words. */
  confidenceOf: string;
}

/** The lower of two numbers where both are there. */
const lower = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : Math.min(a, b));

/** The verifier may only lower the confidence (Orchestration 2.2). */
export const effectiveConfidence = ({ confidence, verifier }: Evidence): number | null =>
  confidence === null ? null : lower(confidence, verifier);

/** Trust out of all signals; null where the step has no confidence. */
export function trustOf(evidence: Evidence): number | null {
  const effective = effectiveConfidence(evidence);
  if (evidence.checksPassed === false) return 0;
  if (effective === null) return null;
  const { calibrated, grounding } = evidence;
  const measured = calibrated?.enforced && calibrated.value !== null ? calibrated.value : effective;
  return grounding?.enforced ? lower(measured, grounding.score) : measured;
}

/** Compares trust with the threshold and says why in one sentence. */
export function gate(evidence: Evidence, rule: GateRule | null): TrustReport {
  const trust = trustOf(evidence);
  const signals = signalsOf(evidence);
  if (!rule || trust === null) {
    const sentence = rule ? 'The step has no confidence, so there was nothing to compare.' : 'This step has no gate.';
    return { signals, trust, threshold: rule?.threshold ?? null, passed: null, action: 'pass', sentence };
  }
  const passed = trust >= rule.threshold;
  const action = passed ? 'pass' : rule.onLow;
  return { signals, trust, threshold: rule.threshold, passed, action, sentence: explain(evidence, trust, rule) };
}

function signalsOf({ confidence, verifier, calibrated, grounding, checksPassed }: Evidence): TrustSignal[] {
  const signals: TrustSignal[] = [{ signal: 'confidence', value: confidence, enforced: true }];
  if (verifier !== null) signals.push({ signal: 'verifier', value: verifier, enforced: true });
  if (calibrated) signals.push({ signal: 'calibration', value: calibrated.value, enforced: calibrated.enforced });
  if (grounding) signals.push({ signal: 'grounding', value: grounding.score, enforced: grounding.enforced });
  if (checksPassed !== null) signals.push({ signal: 'checks', value: checksPassed ? 1 : 0, enforced: true });
  return signals;
}

const NEXT = { escalate: 'the run is escalated', abort: 'the run is aborted', proceed: 'the run continues' };

function explain(evidence: Evidence, trust: number, { threshold, onLow, confidenceOf }: GateRule): string {
  const compared = `${show(trust)} against ${show(threshold)}, set by ${decisive(evidence, trust) ?? confidenceOf}`;
  return trust >= threshold ? `Passed: trust ${compared}.` : `Not passed: trust ${compared}; ${NEXT[onLow]}.`;
}

/** The signal that made the trust what it is; null where it is the confidence itself. */
function decisive(
  { confidence, verifier, calibrated, grounding, checksPassed }: Evidence,
  trust: number,
): string | null {
  const sources: [boolean, string][] = [
    [checksPassed === false, 'a failed check'],
    [grounding !== null && grounding.enforced && grounding.score === trust, 'grounding'],
    [
      calibrated !== null && calibrated.enforced && calibrated.value === trust,
      'the measured accuracy of this confidence',
    ],
    [verifier === trust && verifier !== confidence, 'the verifier'],
  ];
  return sources.find(([decides]) => decides)?.[1] ?? null;
}

const show = (value: number): string => value.toFixed(2);
