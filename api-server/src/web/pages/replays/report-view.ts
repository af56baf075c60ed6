import type { ReplayReport, UsedView } from '../../../service/views/replay.ts';
import { known, moneyIn, numberFact, SECONDS, TOKENS, type Unit } from '../compare/facts.ts';
import { type Budget, createBudget } from '../diff/budget.ts';
import { ago, exactTime } from '../format.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { isActive, statusLook } from '../status.ts';
import { confidenceChart } from './confidences.ts';
import { sampleRows } from './sample-rows.ts';
import { sides } from './sides.ts';
import { candidateWords, labelLook, percent } from './words.ts';

/** The whole page stays below 500 KB. */
const ROOM = { bytes: 180_000, ms: 150 };

export interface ReportInput {
  report: ReplayReport;
  /** The template that the samples were asked with; null where it is not stored. */
  recordedTemplate: string | null;
  operator: boolean;
  now: number;
  currency: string;
}

/** How a candidate did against what was recorded, sample by sample. */
export function replayReportView(input: ReportInput) {
  const { report, operator, now } = input;
  const budget = createBudget(ROOM);
  const active = isActive(report.status);
  const done = report.rows.filter(({ status }) => status !== 'pending' && status !== 'running').length;
  return {
    list: paths.replays(),
    step: report.step_name,
    stepHref: paths.step(report.step_name),
    runHref: paths.run(report.run_id),
    status: statusLook(report.status),
    stream: active ? paths.runStream(report.run_id) : null,
    cancel: active && operator ? paths.replayCancel(report.run_id) : null,
    again: operator ? paths.replayNew({ step: report.step_name, model: report.candidate.model }) : null,
    progress: active
      ? {
          value: String(done),
          max: String(Math.max(1, report.rows.length)),
          words: `${done} of ${plural(report.rows.length, 'sample')}`,
        }
      : null,
    verdict: verdictOf(report, active),
    candidate: candidateWords(report.candidate),
    facts: factsOf(report, now),
    columns: { a: 'Recorded', b: 'Candidate' },
    compared: comparedFacts(report, input.currency),
    chart: confidenceChart(report.confidence_distribution),
    prompt: promptDiff(input, budget),
    divergences: divergenceRows(report),
    rows: sampleRows(report, { operator, active, budget }),
  };
}

/** The worst news first. */
function verdictOf(report: ReplayReport, active: boolean) {
  const failed = report.rows.filter(({ status }) => status === 'execution_failed').length;
  const graded = report.regressed + report.improved + report.unchanged;
  const also = [
    failed > 0 ? `${plural(failed, 'candidate')} failed to answer.` : null,
    report.improved > 0 ? `${report.improved} improved.` : null,
    `${report.unchanged} unchanged.`,
    report.unreplayable_count > 0 ? `${report.unreplayable_count} could not be replayed.` : null,
  ].filter((text) => text !== null);
  const more = also.join(' ');
  if (report.regressed > 0)
    return {
      tone: 'bad',
      icon: 'failed',
      title: `${report.regressed} of ${graded} graded samples regressed`,
      text: more,
    };
  if (failed > 0)
    return { tone: 'bad', icon: 'failed', title: `${plural(failed, 'candidate')} failed to answer`, text: more };
  if (active) return { tone: 'quiet', icon: 'running', title: 'The replay goes on', text: 'This page follows it.' };
  if (graded === 0)
    return {
      tone: 'wait',
      icon: 'alert',
      title: 'Nothing is graded yet',
      text: 'Mark the answers of the candidate below. With replay.judge a judge marks those whose recorded answer was correct.',
    };
  const left = report.candidate_total_n - graded;
  const open = left > 0 ? ` ${left} are not graded yet: mark them below.` : '';
  return { tone: 'good', icon: 'completed', title: 'No graded sample regressed', text: `${more}${open}` };
}

function factsOf(report: ReplayReport, now: number) {
  const { source_bucket: bucket } = report;
  const from = bucket && [bucket.agent, bucket.model, bucket.prompt_hash].filter(Boolean).join(' · ');
  const judge =
    report.judge === null
      ? 'none configured'
      : `${report.judge.agent}, ${report.judge_graded_n} graded, ${report.judge_skipped_n} skipped`;
  return [
    { label: 'Samples', value: `${report.rows.length} ${from ? `of ${from}` : 'chosen one by one'}` },
    { label: 'Prompt', value: report.mode === 'rendered' ? 'as recorded, word for word' : 'rendered again' },
    { label: 'Judge', value: judge },
    ...(report.checks_not_run.length > 0 ? [{ label: 'Checks not run', value: report.checks_not_run.join(', ') }] : []),
    { label: 'Started', value: `${exactTime(report.triggered_at)}, ${ago(report.triggered_at, now)}` },
  ];
}

const SHARE: Unit = { write: percent, better: 'more' };

const mean = ({ n }: UsedShape, total: number | null): number | null => (total === null || n === 0 ? null : total / n);
type UsedShape = ReturnType<typeof UsedView.parse>;

function comparedFacts(report: ReplayReport, currency: string) {
  const { recorded, candidate } = report.used;
  const each = (label: string, key: 'input_tokens' | 'output_tokens' | 'cost' | 'duration_seconds', unit: Unit) =>
    numberFact(label, [mean(recorded, recorded[key]), mean(candidate, candidate[key])], unit);
  const rounded: Unit = { ...TOKENS, write: (value) => TOKENS.write(Math.round(value)) };
  return known([
    numberFact('Accuracy', [report.recorded_accuracy, report.combined_accuracy], SHARE),
    numberFact('Accuracy by people and checks', [null, report.candidate_accuracy_so_far], SHARE),
    numberFact('Accuracy by the judge', [null, report.judge_accuracy], SHARE),
    each('Input tokens each', 'input_tokens', rounded),
    each('Output tokens each', 'output_tokens', rounded),
    each('Cost each', 'cost', moneyIn(currency)),
    each('Duration each', 'duration_seconds', SECONDS),
  ]);
}

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
