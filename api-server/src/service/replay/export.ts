import { csvOf } from '../../store/db/texts/csv.ts';
import type { ExportFormat } from '../exports/formats.ts';
import type { ReplayRow } from '../views/replay-row.ts';
import type { AnyReplayReport } from '../views/replay-report.ts';

type Line = { run_id: string; step_name: string; source_run_id: string | null } & ReplayRow;

/** The rows of a report as lines of JSON, or as CSV (RFC 4180) in which no cell is taken for a formula. */
export function exportRows(report: AnyReplayReport, format: ExportFormat): string {
  const lines = linesOf(report);
  if (format === 'jsonl') return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const cells = lines.map(cellsOf);
  return csvOf([COLUMNS, ...cells.map((line) => COLUMNS.map((name) => line[name]))]);
}

function linesOf(report: AnyReplayReport): Line[] {
  const { run_id } = report;
  if (report.kind === 'step') {
    const { step_name, rows } = report;
    return rows.map((row) => ({ run_id, step_name, source_run_id: row.recorded && row.recorded.run_id, ...row }));
  }
  return report.runs.flatMap(({ source_run_id, steps }) =>
    steps.map(({ step_name, ...row }) => ({ run_id, step_name, source_run_id, ...row })),
  );
}

const PLAIN = [
  'run_id',
  'step_name',
  'source_run_id',
  'sample_step_id',
  'recorded_label',
  'recorded_label_source',
  'status',
  'reason',
  'candidate_step_id',
  'deterministic_passed',
  'mark_outcome',
  'candidate_label',
  'candidate_label_source',
  'judge_verdict',
  'judge_reason',
  'judge_skipped_reason',
  'change',
  'source_summary',
] as const satisfies readonly (keyof Line)[];

const OF_EXECUTION = [
  'confidence',
  'summary',
  'output',
  'input_tokens',
  'output_tokens',
  'cost',
  'duration_seconds',
] as const;
const SIDES = ['recorded', 'candidate'] as const;
const COLUMNS = [...PLAIN, ...SIDES.flatMap((side) => OF_EXECUTION.map((name) => `${side}_${name}` as const))] as const;

/** One row of the table; an output is a cell of JSON. */
function cellsOf(line: Line): Record<string, unknown> {
  const cells: Record<string, unknown> = Object.fromEntries(PLAIN.map((name) => [name, line[name]]));
  for (const side of SIDES)
    for (const name of OF_EXECUTION) {
      const value = line[side]?.[name] ?? null;
      cells[`${side}_${name}`] = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
    }
  return cells;
}
