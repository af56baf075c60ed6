import type { ReplayReport } from '../../service/views/replay.ts';

export interface Limits {
  maxRegressed: number;
  minGraded: number;
}

export interface Verdict {
  passed: boolean;
  /** One line each, for people. */
  lines: string[];
}

const percent = (share: number | null): string => (share === null ? 'unknown' : `${(share * 100).toFixed(1)}%`);
const LABELS: Record<string, string> = { 1: 'correct', 0.5: 'partial', 0: 'incorrect' };

/** A candidate that gave no answer where the recorded one was not wrong is worse, too. */
const isFailed = ({ status, change, recorded_label: label }: ReplayReport['rows'][number]): boolean =>
  status === 'execution_failed' && change === null && label !== 0;

/** Whether the candidate may replace what was recorded. Without graded answers nothing is known, and that does not pass. */
export function verdictOf(report: ReplayReport, { maxRegressed, minGraded }: Limits): Verdict {
  const failed = report.rows.filter(isFailed);
  const worse = report.regressed + failed.length;
  const graded = report.regressed + report.improved + report.unchanged + failed.length;
  const reasons = [
    report.status === 'completed' ? null : `the replay ended ${report.status}`,
    worse > maxRegressed ? `${worse} regressed, ${maxRegressed} allowed` : null,
    graded < minGraded
      ? `${graded} graded, ${minGraded} needed: add deterministic checks to the step, configure replay.judge, or mark the answers`
      : null,
  ].filter((reason) => reason !== null);
  return {
    passed: reasons.length === 0,
    lines: [
      `step ${report.step_name}: ${report.rows.length} samples, ${graded} graded, ${report.unreplayable_count} unreplayable`,
      `regressed ${worse}, improved ${report.improved}, unchanged ${report.unchanged}`,
      `accuracy ${percent(report.recorded_accuracy)} recorded, ${percent(report.combined_accuracy)} candidate`,
      ...report.rows.filter((row) => row.change === 'regressed' || isFailed(row)).map(regressedLine),
      reasons.length === 0 ? 'PASSED' : `FAILED: ${reasons.join('; ')}`,
    ],
  };
}

function regressedLine(row: ReplayReport['rows'][number]): string {
  const was = LABELS[String(row.recorded_label)] ?? 'unlabelled';
  const is = row.candidate_label === undefined ? 'no answer' : LABELS[String(row.candidate_label)];
  const why = row.judge_reason ?? row.reason ?? row.candidate_summary ?? '';
  return `  ${row.sample_step_id}: ${was} -> ${is}  ${why.replaceAll(/\s+/g, ' ').slice(0, 160)}`;
}
