import type { Pipeline } from '@signalbox/crds';
import { countSince, createEvidence, marked, type Tally } from './evidence.ts';
import type { Combo } from './executions.ts';
import { type CurrentConfig, currentConfig, inScope, isCurrent, type VersionOf } from './scope.ts';
import type { ReadinessStep, Subject } from './steps.ts';
import { type BinRule, judgeTiers, type Tiers } from './tiers.ts';
import { combine, type Verdict, VERDICTS } from './verdict.ts';
import { narrative, notes } from './words.ts';

interface Seen {
  runsTotal: number;
  /** Executions. */
  rowsTotal: number;
  markedTotal: number;
  firstSeenAt: number | null;
  lastSeenAt: number | null;
}

interface ObservedCombo extends Combo, Seen {
  /** Whether it counts now. */
  current: boolean;
}

export interface StepReadiness {
  step: ReadinessStep;
  verdict: Verdict;
  config: CurrentConfig;
  evidence: Seen;
  tiers: Tiers;
  combos: ObservedCombo[];
  narrative: string[];
  notes: string[];
}

/** Whether the evidence of a pipeline suffices, at the stage that it is at (Orchestration 2.9). */
export interface ReadinessReport {
  pipeline: string;
  stage: Pipeline['stage'];
  criteriaSource: 'configured' | 'none';
  verdict: Verdict;
  gatheredAt: number;
  summary: Record<Verdict, number> & { total: number };
  steps: StepReadiness[];
}

/** What was read once and can be judged by any criteria: it depends on the steps, never on what is asked of them. */
export interface Gathered {
  evidence: ReturnType<typeof createEvidence>;
  versionOf: VersionOf;
  at: number;
  /** True where there was more than is looked at. */
  cut: boolean;
}

/** Who answered is listed up to this many. */
const MAX_COMBOS = 50;

export const startEvidence = ({ steps }: Subject): Gathered['evidence'] => createEvidence(steps);

/** Judges what was gathered by the criteria that the steps of `subject` have. */
export function evaluateReadiness(subject: Subject, gathered: Gathered, rule: BinRule): ReadinessReport {
  const steps = subject.steps.map((step) => evaluateStep(step, { stage: subject.stage, gathered, rule }));
  const count = (verdict: Verdict) => steps.filter((step) => step.verdict === verdict).length;
  const counts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, count(verdict)])) as Record<Verdict, number>;
  const isAsked = steps.some(
    ({ step }) => Object.keys(step.criteria).length + step.leftOut.length + step.exempt.length > 0,
  );
  return {
    pipeline: subject.name,
    stage: subject.stage,
    criteriaSource: isAsked ? 'configured' : 'none',
    verdict: combine(steps.map(({ verdict }) => verdict)),
    gatheredAt: gathered.at,
    summary: { ...counts, total: steps.length },
    steps,
  };
}

interface Around {
  stage: Subject['stage'];
  gathered: Gathered;
  rule: BinRule;
}

function evaluateStep(step: ReadinessStep, { stage, gathered, rule }: Around): StepReadiness {
  const evidence = gathered.evidence.of(step.name);
  const config = currentConfig(step, evidence, gathered.versionOf);
  const scoped = inScope(step, evidence, config);
  const { current, older } = scoped;
  const tiers = judgeTiers(current, step.criteria, { rule, at: gathered.at });
  const verdict = combine(Object.values(tiers).map((tier: { verdict: Verdict }) => tier.verdict));
  const cut = gathered.cut ? ['Only the newest runs were looked at; there are more.'] : [];
  return {
    step,
    verdict,
    config,
    evidence: counted(current),
    tiers,
    combos: [...evidence.combos.values()]
      .map(({ combo, tally }): ObservedCombo => ({
        ...combo,
        ...counted(tally),
        current: isCurrent(step, combo, config),
      }))
      .toSorted((a, b) => b.rowsTotal - a.rowsTotal)
      .slice(0, MAX_COMBOS),
    narrative: narrative({ step, stage, verdict, tiers, older }),
    notes: [...notes({ step, config, ...scoped }), ...cut],
  };
}

const counted = (tally: Tally): Seen => ({
  runsTotal: countSince(tally.seen).runs,
  rowsTotal: tally.rows,
  markedTotal: marked(tally),
  firstSeenAt: tally.firstSeenAt,
  lastSeenAt: tally.lastSeenAt,
});
