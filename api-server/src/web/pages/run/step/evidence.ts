import { duration, score } from '../../format.ts';
import type { TrustReport } from '../../../../service/views/step.ts';
import { iterationsOf, opinionsOf } from './opinions.ts';
import { requestRows, requestText } from './requests.ts';
import type { ShownStep } from './shown-step.ts';
import { sourceOf } from './sources.ts';
import { UNWEIGHED, whyUnweighed } from './why-no-evidence.ts';

const LABELS: Record<string, string> = {
  confidence: 'Confidence',
  verifier: 'Verifier',
  calibration: 'Calibrated',
  grounding: 'Grounding',
  checks: 'Checks',
};

const VERDICTS = {
  pass: { tone: 'good', icon: 'completed', word: 'Passed the gate' },
  escalate: { tone: 'escalated', icon: 'escalated', word: 'Did not pass: escalated' },
  abort: { tone: 'bad', icon: 'aborted', word: 'Did not pass: aborted' },
  proceed: { tone: 'quiet', icon: 'arrow', word: 'Did not pass: went on' },
} as const;
const NO_GATE = { tone: 'quiet', icon: 'pending', word: 'No gate' } as const;

const percent = (value: number): string => `${(100 * Math.min(1, Math.max(0, value))).toFixed(2)}%`;

const verdictOf = (report: TrustReport) =>
  report.passed === null ? NO_GATE : report.passed ? VERDICTS.pass : VERDICTS[report.action];

const NOT_YET = {
  waits: { tone: 'wait', icon: 'waiting', word: 'Not decided yet' },
  running: { tone: 'live', icon: 'running', word: 'Not decided yet' },
} as const;

/** Why a step has no evidence, as a heading and a sentence. */
function whyNothing(step: ShownStep) {
  const why = whyUnweighed(step);
  const verdict = why === 'waits' || why === 'running' ? NOT_YET[why] : NO_GATE;
  return { verdict, sentence: UNWEIGHED[why] };
}

const sentenceOf = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;

type Signal = TrustReport['signals'][number];

/** Checks as a count, other signals as a score. */
function signalText(
  { signal, value }: Signal,
  checks: readonly { passed: boolean }[],
  threshold: number | null,
): string {
  if (signal !== 'checks' || checks.length === 0) return score(value, threshold);
  return `${checks.filter(({ passed }) => passed).length}/${checks.length}`;
}

/** Where a signal comes from, and what it is good for. */
function noteOf(step: ShownStep, { signal, enforced, value, note }: Signal) {
  const unmeasured =
    signal === 'calibration' && value === null ? 'too few marked outcomes at this confidence to measure it' : null;
  const text = [sourceOf(step, signal), enforced ? null : 'recorded only, changes nothing', unmeasured, note].filter(
    (part) => part !== null && part !== undefined && part !== '',
  );
  return { label: LABELS[signal] ?? signal, text: text.join('; ') };
}

function thresholdMark(threshold: number) {
  const late = threshold > 0.5;
  return {
    value: score(threshold),
    x: percent(threshold),
    anchor: late ? 'end' : 'start',
    labelX: percent(late ? threshold - 0.01 : threshold + 0.01),
  };
}

/** All signals of a step on one axis from 0 to 1 with the threshold, and why it passed or not. */
export function evidenceView(step: ShownStep) {
  const gathered = {
    checks: step.checks.map(({ duration_seconds: took, request, ...check }) => ({
      ...check,
      took: duration(took),
      request: request ? requestText(request) : null,
    })),
    requests: requestRows(step),
    opinions: opinionsOf(step),
    iterations: iterationsOf(step),
    warnings: step.trust_report?.warnings?.map(({ message }) => sentenceOf(message)) ?? [],
  };
  const report = step.trust_report;
  if (report === null) {
    return {
      known: false,
      ...whyNothing(step),
      trust: null,
      threshold: null,
      signals: [],
      notes: [],
      ...gathered,
    };
  }
  return {
    known: report.trust !== null || report.signals.some(({ value }) => value !== null),
    verdict: verdictOf(report),
    sentence: report.sentence,
    trust:
      report.trust === null ? null : { value: score(report.trust, report.threshold), width: percent(report.trust) },
    threshold: report.threshold === null ? null : thresholdMark(report.threshold),
    signals: report.signals.map((signal) => ({
      label: LABELS[signal.signal] ?? signal.signal,
      value: signalText(signal, gathered.checks, report.threshold),
      width: percent(signal.value ?? 0),
      known: signal.value !== null,
      shadow: !signal.enforced,
    })),
    notes: report.signals.map((signal) => noteOf(step, signal)).filter((note) => note.text !== ''),
    ...gathered,
  };
}
