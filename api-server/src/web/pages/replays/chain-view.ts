import type { ReplayChainReport } from '../../../service/views/replay-chain.ts';
import { known, numberFact } from '../compare/facts.ts';
import { type Budget, createBudget } from '../diff/budget.ts';
import { ago, exactTime, percent } from '../format.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { isActive } from '../status.ts';
import { chainRuns } from './chain-runs.ts';
import { headOf } from './head.ts';
import { sides } from './sides.ts';
import { SHARE, usedFacts } from './used-facts.ts';
import { verdictOf } from './verdict.ts';
import { changesWords, candidateWords, rangeWords } from './words.ts';

/** The whole page stays below 500 KB. */
const ROOM = { bytes: 120_000, ms: 150 };

export interface ChainInput {
  report: ReplayChainReport;
  /** The newest template of each step whose template the candidate changes. */
  recordedTemplates: ReadonlyMap<string, string>;
  operator: boolean;
  now: number;
  currency: string;
  /** Of the recorded runs, from 1. */
  page: number;
}

type ChainStep = ReplayChainReport['steps'][number];

/** How a changed range of steps did, step by step and recorded run by recorded run. */
export function chainReportView(input: ChainInput) {
  const { report, operator, now } = input;
  const { run_id: id, pipeline_name: pipeline, from_step, to_step } = report;
  const budget = createBudget(ROOM);
  const active = isActive(report.status);
  const done = report.runs.filter(({ result }) => result !== 'pending').length;
  const of = plural(report.runs.length, 'recorded run');
  return {
    stream: active ? paths.runStream(id) : null,
    head: {
      ...headOf(report, { operator, done, of, samples: report.runs.length }),
      about: pipeline,
      aboutHref: paths.pipeline(pipeline),
      title: `Replay of ${rangeWords(report)}`,
      again: operator ? paths.replayRange({ pipeline, from_step, to_step }) : null,
      verdict: verdictOf(standing(report, active)),
      candidate: changesWords(report.candidate),
      facts: factsOf(report, now),
    },
    columns: { a: 'Recorded', b: 'Candidate' },
    steps: report.steps.map((step) => stepView(step, input, budget)),
    ...chainRuns(report, { operator, active, budget, page: input.page }),
  };
}

const HOW_TO_GRADE = 'Mark the answers of the candidate below. The judge is not asked about a range of steps.';

function standing({ steps, runs, unreplayable_count: unreplayable }: ReplayChainReport, active: boolean) {
  const sum = (pick: (step: ChainStep) => number) => steps.reduce((total, step) => total + pick(step), 0);
  const rows = runs.flatMap((run) => run.steps);
  return {
    regressed: sum(({ regressed }) => regressed),
    improved: sum(({ improved }) => improved),
    unchanged: sum(({ unchanged }) => unchanged),
    failed: rows.filter(({ status }) => status === 'execution_failed').length,
    unreplayable,
    ungraded: rows.filter((row) => row.status === 'completed' && row.recorded_label !== null && row.change === null)
      .length,
    active,
    graded: 'answers' as const,
    howToGrade: HOW_TO_GRADE,
  };
}

function factsOf({ steps, runs, triggered_at: at }: ReplayChainReport, now: number) {
  const recorded = steps.filter(({ replayed }) => !replayed).map(({ step_name: name }) => name);
  return [
    { label: 'Samples', value: plural(runs.length, 'recorded run') },
    { label: 'Asked again', value: plural(steps.length - recorded.length, 'step') },
    { label: 'Answered from the record', value: recorded.join(', ') || 'no step' },
    { label: 'Prompt', value: 'rendered again' },
    { label: 'Started', value: `${exactTime(at)}, ${ago(at, now)}` },
  ];
}

function stepView(step: ChainStep, input: ChainInput, budget: Budget) {
  const { step_name: name, replayed } = step;
  const own = { name, href: paths.step(name), replayed, look: lookOf(step) };
  return replayed ? { ...own, ...askedAgain(step, input, budget) } : { ...own, ...fromTheRecord(step) };
}

const fromTheRecord = ({ executor }: ChainStep) => ({
  words: `${executor} step, not executed`,
  accuracy: null,
  effects: EFFECTS.get(executor) ?? 'It was not executed: the later steps saw its recorded result.',
  skippedChecks: null,
  graded: null,
  compared: [],
  prompt: null,
});

function askedAgain(step: ChainStep, { report, recordedTemplates, currency }: ChainInput, budget: Budget) {
  const { step_name: name, regressed, improved, unchanged, candidate_accuracy_so_far: accuracy } = step;
  const candidate = report.candidate[name] ?? {};
  const template = candidate.prompt_template;
  const names = ['Template in production', 'Template of the candidate'] as const;
  return {
    words: candidateWords(candidate),
    accuracy: accuracy === null ? null : `${percent(step.recorded_accuracy)} → ${percent(accuracy)}`,
    effects: null,
    skippedChecks: step.checks_not_run.join(', ') || null,
    graded: `${step.candidate_graded_n} of ${plural(step.candidate_total_n, 'answer')} graded: ${regressed} regressed, ${improved} improved, ${unchanged} unchanged.`,
    compared: known([
      numberFact('Accuracy', [step.recorded_accuracy, accuracy], SHARE),
      ...usedFacts(step.used, currency),
    ]),
    prompt: template === undefined ? null : sides(names, [recordedTemplates.get(name) ?? '', template], budget),
  };
}

function lookOf({ replayed, regressed, improved, unchanged }: ChainStep) {
  if (!replayed) return { icon: 'file', word: 'From the record', tone: 'quiet' };
  if (regressed > 0) return { icon: 'failed', word: `${regressed} regressed`, tone: 'bad' };
  if (improved + unchanged === 0) return { icon: 'pending', word: 'Not graded', tone: 'wait' };
  return { icon: 'completed', word: improved > 0 ? `${improved} improved` : 'Unchanged', tone: 'good' };
}

/** Why a step was not executed, and what the steps after it saw. */
const EFFECTS = new Map([
  ['webhook', 'No request was sent: the later steps saw the recorded response.'],
  ['human', 'No person was asked: the later steps saw the recorded decision.'],
  ['pipeline', 'No run was started: the later steps saw the recorded result.'],
]);
