import type { FanOutStep, ParallelStep } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import { cutText } from '../state/field-sizes.ts';
import { charsOf, LEFT_OUT, roomTogether } from '../state/held.ts';
import type { StepStatus, TrustWarning } from '../state/model.ts';
import type { StepView } from '../state/step-results.ts';

/** What the output of a group has of one branch. */
interface BranchOutput {
  name: string;
  status: StepStatus | null;
  summary: string | null;
  trust: number | null;
  output: object;
}

/** Later steps reach the answers of a group in one place, in the order of the branches. */
export function branchOutputs(run: ActiveRun, name: string, step: ParallelStep | FanOutStep): BranchOutput[] {
  const names = 'parallel' in step ? step.parallel.steps.map((branch) => branch.name) : fanOutNames(run, name);
  const hasRoom = roomTogether();
  return names.map((branch) => {
    const view = run.results.get(branch);
    return view === undefined ? notBegun(branch) : outputOf(branch, view, hasRoom(charsOf(view)));
  });
}

function fanOutNames(run: ActiveRun, name: string): string[] {
  const prefix = `${name}/`;
  const index = (branch: string) => Number(branch.slice(prefix.length));
  return [...run.results.keys()].filter((branch) => branch.startsWith(prefix)).sort((a, b) => index(a) - index(b));
}

const notBegun = (name: string): BranchOutput => ({ name, status: null, summary: null, trust: null, output: {} });

/** Bytes of a summary beside an output that is left out: there may be 200 of these. */
const SUMMARY_BYTES = 1024;

function outputOf(name: string, { status, summary, trust, output }: StepView, hasRoom: boolean): BranchOutput {
  if (hasRoom) return { name, status, summary, trust, output };
  return { name, status, summary: summary && cutText(summary, SUMMARY_BYTES), trust, output: LEFT_OUT };
}

/** Says in the log which outputs have no place, and gives the same as a warning of the group. */
export function leftOutWarnings(run: ActiveRun, name: string, branches: readonly BranchOutput[]): TrustWarning[] {
  const count = branches.filter(({ output }) => output === LEFT_OUT).length;
  if (count === 0) return [];
  const message = `the outputs of ${count} of ${branches.length} branches are left out of steps.${name}.output, which has room for 2 MiB together; their summaries are there`;
  run.journal.add('warn', 'output_left_out', message, { step_name: name });
  return [{ type: 'output_left_out', message }];
}
