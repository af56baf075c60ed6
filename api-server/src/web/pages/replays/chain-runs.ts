import type { ReplayChainReport } from '../../../service/views/replay-chain.ts';
import type { Budget } from '../diff/budget.ts';
import { shorten } from '../format.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { type StatusLook, statusLook } from '../status.ts';
import { badness, sampleRow } from './sample-rows.ts';

type ChainRun = ReplayChainReport['runs'][number];
type Row = ChainRun['steps'][number];

/** Recorded runs of one page, and answers of all of them together. */
const MOST_RUNS = 20;
const MOST_ANSWERS = 60;

const RESULTS: Record<ChainRun['result'], StatusLook> = {
  completed: { icon: 'completed', word: 'Replayed', tone: 'quiet' },
  partial: { icon: 'failed', word: 'Partial', tone: 'bad' },
  unreplayable: { icon: 'skipped', word: 'Unreplayable', tone: 'quiet' },
  pending: { icon: 'queued', word: 'Not replayed', tone: 'quiet' },
};
/** There is nothing to compare a mark of the candidate with. */
const NO_LABEL: StatusLook = { icon: 'pending', word: 'Not marked when recorded', tone: 'quiet' };
const REGRESSED: StatusLook = { icon: 'failed', word: 'Regressed', tone: 'bad' };

interface Shown {
  operator: boolean;
  active: boolean;
  budget: Budget;
  page: number;
}

/** The recorded runs of one page, the worst first, each with its steps in their order. */
export function chainRuns(report: ReplayChainReport, { page, ...shown }: Shown) {
  const { run_id: id } = report;
  const worst = ({ steps }: ChainRun) => Math.min(...steps.map(badness), UNREPLAYABLE);
  const sorted = report.runs.toSorted((a, b) => worst(a) - worst(b));
  const size = Math.min(MOST_RUNS, Math.max(1, Math.floor(MOST_ANSWERS / report.steps.length)));
  const last = Math.max(1, Math.ceil(sorted.length / size));
  const at = Math.min(page, last);
  const from = (at - 1) * size;
  const here = (number: number) => paths.replay(id, { page: number === 1 ? null : number });
  const runs = sorted.slice(from, from + size);
  return {
    runs: runs.map((run) => runView(run, report, { ...shown, runId: id, here: here(at) })),
    pager:
      last === 1
        ? null
        : {
            words: `${from + 1} to ${from + runs.length} of ${plural(sorted.length, 'recorded run')}, the worst first`,
            previous: at > 1 ? here(at - 1) : null,
            next: at < last ? here(at + 1) : null,
          },
  };
}

/** Behind every other group of samples. */
const UNREPLAYABLE = 100;

type RunShown = Omit<Shown, 'page'> & { runId: string; here: string };

function runView(run: ChainRun, { steps }: ReplayChainReport, shown: RunShown) {
  const { source_run_id: source, result, reason } = run;
  const regressed = run.steps.some(({ change }) => change === 'regressed');
  const rows = new Map(run.steps.map((row) => [row.step_name, row]));
  return {
    id: `run-${source ?? ''}`,
    look: regressed ? REGRESSED : RESULTS[result],
    open: !shown.active && (regressed || result === 'partial'),
    ...textsOf(run),
    states: run.steps.flatMap((row) => (row.change === null ? [] : [`${row.step_name} ${row.change}`])).join(', '),
    href: source && paths.run(source),
    reason,
    steps:
      result === 'unreplayable'
        ? []
        : steps.map(({ step_name: name, executor }) => {
            const row = rows.get(name);
            return {
              sample: row ? chainRow(row, run, shown) : null,
              name,
              recorded: `${executor} step, answered with what was recorded`,
              recordedHref: source && paths.run(source, { step: name }),
            };
          }),
  };
}

/** What the alert said, and what the last replayed step came to. */
function textsOf({ steps, source_run_id: source }: ChainRun) {
  const [alert] = steps.flatMap((row) => row.source_summary ?? []);
  const said = steps.flatMap((row) => row.candidate_summary ?? []).at(-1) ?? null;
  return { text: shorten(alert ?? `Run ${source ?? 'that is gone'}`, 160), said: said && shorten(said, 160) };
}

/** A step that the chain did not reach, or whose condition did not hold, has no answer to compare. */
function chainRow(row: Row, { result }: ChainRun, shown: RunShown) {
  const sample = sampleRow(row, shown);
  // The alert is the title of the run.
  const view = { ...sample, text: sample.said ?? sample.text, said: null, step: row.step_name };
  if (row.status === 'completed' && row.recorded_label === null) return { ...view, look: NO_LABEL, open: false };
  if (row.status === 'skipped') return { ...view, text: 'Its condition did not hold with the replayed results.' };
  if (row.status !== 'pending' || result !== 'partial') return view;
  return {
    ...view,
    look: statusLook('unreached'),
    text: 'The chain ended at an earlier step, so this one is not graded.',
  };
}
