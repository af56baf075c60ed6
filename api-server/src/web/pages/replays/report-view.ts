import type { ReplayReport } from '../../../service/views/replay.ts';
import { known, numberFact } from '../compare/facts.ts';
import { type Budget, createBudget } from '../diff/budget.ts';
import { ago, exactTime } from '../format.ts';
import { gradedPair } from './graded-pair.ts';
import { headOf } from './head.ts';
import { paths } from '../paths.ts';
import { portionOf } from '../portion.ts';
import { plural } from '../runs/row.ts';
import { isActive } from '../status.ts';
import { confidenceChart } from './confidences.ts';
import { sampleRow, worstFirst } from './sample-rows.ts';
import { sides } from './sides.ts';
import { SHARE, usedFacts } from './used-facts.ts';
import { verdictOf } from './verdict.ts';
import { candidateWords, labelLook } from './words.ts';

/** Texts beside each other, on one page of samples. */
const ROOM = { bytes: 60_000, ms: 150 };
const SAMPLES_A_PAGE = 30;

export interface ReportInput {
  report: ReplayReport;
  /** The template that the samples were asked with; null where it is not stored. */
  recordedTemplate: string | null;
  operator: boolean;
  now: number;
  currency: string;
  page: number;
}

/** How a candidate did against what was recorded, sample by sample. */
export function replayReportView(input: ReportInput) {
  const { report, operator, now } = input;
  const budget = createBudget(ROOM);
  const active = isActive(report.status);
  const done = report.rows.filter(({ status }) => status !== 'pending' && status !== 'running').length;
  const { run_id: id, step_name: step } = report;
  const goTo = (number: number) => paths.replay(id, { page: number });
  const { rows, pager } = portionOf(worstFirst(report.rows), { page: input.page, size: SAMPLES_A_PAGE, goTo });
  return {
    stream: active ? paths.runStream(id) : null,
    head: {
      ...headOf(report, { operator, done, of: plural(report.rows.length, 'sample'), samples: report.rows.length }),
      about: step,
      aboutHref: paths.step(step),
      title: `Replay of ${step}`,
      again: operator ? paths.replayNew({ step, model: report.candidate.model }) : null,
      verdict: standing(report, active),
      candidate: `${isScheduled(report) ? 'Scheduled · ' : ''}${candidateWords(report.candidate, report.source)}`,
      facts: factsOf(report, now),
    },
    columns: { a: 'Recorded', b: 'Candidate' },
    compared: comparedFacts(report, input.currency),
    chart: confidenceChart(report.confidence_distribution),
    prompt: promptDiff(input, budget),
    divergences: divergenceRows(report),
    rows: rows.map((row) => sampleRow(row, { runId: id, operator, active, budget, here: goTo(input.page) })),
    pager,
  };
}

function standing(report: ReplayReport, active: boolean) {
  const { regressed, improved, unchanged } = report;
  const failed = report.rows.filter(({ status }) => status === 'execution_failed').length;
  return verdictOf({
    regressed,
    improved,
    unchanged,
    failed,
    unreplayable: report.unreplayable_count,
    ungraded: report.candidate_total_n - regressed - improved - unchanged - failed,
    active,
    graded: 'samples',
    howToGrade: HOW_TO_GRADE,
  });
}

const HOW_TO_GRADE =
  'Mark the answers of the candidate below. With replay.judge a judge marks those whose recorded answer was correct.';

const isScheduled = ({ source }: ReplayReport): boolean => source === 'regression';

function factsOf(report: ReplayReport, now: number) {
  const { source_bucket: bucket } = report;
  const from = bucket && [bucket.agent, bucket.model, bucket.prompt_hash].filter(Boolean).join(' · ');
  const chosen = from ? `of ${from}` : isScheduled(report) ? 'of the golden set' : 'chosen one by one';
  const judge =
    report.judge === null
      ? 'none configured'
      : `${report.judge.agent}, ${report.judge_graded_n} graded, ${report.judge_skipped_n} skipped`;
  return [
    { label: 'Samples', value: `${report.rows.length} ${chosen}` },
    { label: 'Prompt', value: report.mode === 'rendered' ? 'as recorded, word for word' : 'rendered again' },
    { label: 'Judge', value: judge },
    ...(report.checks_not_run.length > 0 ? [{ label: 'Checks not run', value: report.checks_not_run.join(', ') }] : []),
    { label: 'Started', value: `${exactTime(report.triggered_at)}, ${ago(report.triggered_at, now)}` },
  ];
}

function accuracyFacts(report: ReplayReport) {
  const { rows, recorded_accuracy: all, combined_accuracy: combined } = report;
  const { n, recorded, candidate } = gradedPair(rows);
  if (n === 0 || n === rows.length) return [numberFact('Accuracy', [all, combined], SHARE)];
  return [
    numberFact(`Accuracy of the ${n} graded`, [recorded, candidate], SHARE),
    numberFact('Accuracy of all recorded', [all, null], SHARE),
  ];
}

const comparedFacts = (report: ReplayReport, currency: string) =>
  known([
    ...accuracyFacts(report),
    ...(report.judge === null
      ? []
      : [
          numberFact('By people and checks', [null, report.candidate_accuracy_so_far], SHARE),
          numberFact('By the judge', [null, report.judge_accuracy], SHARE),
        ]),
    ...usedFacts(report.used, currency),
  ]);

function promptDiff({ report, recordedTemplate }: ReportInput, budget: Budget) {
  const changed = report.candidate.prompt_template;
  if (changed === undefined) return null;
  return sides(['Recorded template', 'Template of the candidate'], [recordedTemplate ?? '', changed], budget);
}

const divergenceRows = ({ label_divergences: all, rows }: ReplayReport) =>
  all.slice(0, 20).map(({ sample_step_id: id, pinned_label, current_label }) => {
    const recorded = rows.find((row) => row.sample_step_id === id)?.recorded ?? null;
    return {
      href: recorded && paths.run(recorded.run_id, { step: recorded.step_name }),
      text: `pinned as ${labelLook(pinned_label).word}, marked ${labelLook(current_label).word} since`,
    };
  });
