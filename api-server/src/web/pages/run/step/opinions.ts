import { score } from '../../format.ts';
import type { SecondOpinion } from '../../../../service/views/step.ts';
import type { ShownStep } from './shown-step.ts';

/** What a second agent said of a step; `effect`: what the score is good for. */
function opinion(role: string, said: SecondOpinion, effect: string) {
  return {
    role,
    agent: [said.agent, said.model].filter((part) => part !== null).join(' · '),
    score: score(said.score),
    said: said.error === undefined ? (said.summary ?? '') : `It gave no usable answer: ${said.error}`,
    failed: said.error !== undefined,
    effect: said.error === undefined ? effect : 'counts for nothing',
  };
}

function verifierEffect({ primary_confidence: own, trust_report: report, raw_response: raw }: ShownStep): string {
  if (report === null) return 'what it changed is not stored';
  if (raw?.verifier?.score == null) return 'gave no score, so it changed nothing';
  const verdict = report.signals.find(({ signal }) => signal === 'verifier');
  if (verdict === undefined) return 'above its veto floor, so it changed nothing';
  if (own === null || verdict.value === null || verdict.value >= own) return 'did not lower the confidence';
  return `lowered the confidence from ${score(own)}`;
}

function groundingEffect({ trust_report: report, effective_confidence: own }: ShownStep): string {
  if (report === null) return 'what it changed is not stored';
  const signal = report.signals.find(({ signal: name }) => name === 'grounding');
  if (signal === undefined || signal.value === null) return 'gave no score, so it changed nothing';
  if (!signal.enforced) return 'in shadow: recorded only';
  if (own === null || signal.value >= own) return 'enforced: did not lower the trust';
  return signal.value === report.trust ? 'enforced: set the trust' : 'enforced: lower than the confidence';
}

/** Verifier and grounding judge of a step, with what they said (Orchestration 2.2). */
export function opinionsOf(step: ShownStep) {
  const { verifier, grounding } = step.raw_response ?? {};
  return [
    ...(verifier ? [opinion('Verifier', verifier, verifierEffect(step))] : []),
    ...(grounding ? [opinion('Grounding judge', grounding, groundingEffect(step))] : []),
  ];
}

/** Every answer of a `loop_until` in order; empty where the first one was enough. */
export function iterationsOf({ raw_response: raw, primary_confidence, summary }: ShownStep) {
  const before = raw?.iterations_before ?? [];
  if (before.length === 0) return [];
  const all = [...before, { confidence: primary_confidence, summary: summary ?? null }];
  return all.map(({ confidence, summary: said }, i) => ({
    number: i + 1,
    score: score(confidence),
    said: said ?? '',
    last: i === before.length,
  }));
}
