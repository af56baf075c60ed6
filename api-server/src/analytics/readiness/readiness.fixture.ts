import { Pipeline, promptHash } from '@signalbox/crds';
import { batchOf, type EvidenceRow } from './executions.ts';
import { evaluateReadiness, startEvidence } from './readiness.ts';
import type { VersionOf } from './scope.ts';
import { subjectOf } from './steps.ts';
import type { BinRule } from './tiers.ts';

export const PROMPT = 'What happened?';
export const HASH = promptHash(PROMPT);
export const RULE: BinRule = { binWidth: 0.1, nMin: null, defaultNMin: 20 };
export const NOBODY_SAYS: VersionOf = () => null;

/** A pipeline of one agent step `look`, or of the steps given. */
export const pipelineOf = (readiness?: unknown, steps: object[] = [AGENT_STEP]): Pipeline =>
  Pipeline.parse({ name: 'checkout', steps, ...(readiness === undefined ? {} : { readiness }) });
export const AGENT_STEP = { name: 'look', executor: 'gateway', agent: 'investigator', prompt_template: PROMPT };

let runs = 0;
/** An execution of `look` in a run of its own that went well and that nobody marked. */
export const row = (values: Partial<EvidenceRow> = {}): EvidenceRow => ({
  run: ++runs,
  stepName: 'look',
  agent: 'investigator',
  provider: 'demo',
  model: 'scripted',
  promptHash: HASH,
  agentVersion: 'v1',
  status: 'completed',
  errorType: null,
  confidence: 0.8,
  grounding: null,
  checkFailed: false,
  startedAt: 1_000 + runs,
  stepOutcome: null,
  runOutcome: null,
  ...values,
});
export const rows = (n: number, values: Partial<EvidenceRow> = {}): EvidenceRow[] =>
  Array.from({ length: n }, () => row(values));

export interface Case {
  pipeline: Pipeline;
  rows: readonly EvidenceRow[];
  versionOf?: VersionOf;
  rule?: Partial<BinRule>;
}

export function evaluate({ pipeline, rows: given, versionOf = NOBODY_SAYS, rule = {} }: Case) {
  const subject = subjectOf(pipeline);
  const evidence = startEvidence(subject);
  evidence.add(batchOf([...new Set(given.map(({ run }) => run))], given));
  return evaluateReadiness(subject, { evidence, versionOf, at: 5_000, cut: false }, { ...RULE, ...rule });
}

/** The only step of the pipeline. */
export const stepOf = (given: Case) => evaluate(given).steps[0]!;
