import { count } from '../format.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import type { ShownRun, ShownStep } from './step/shown-step.ts';

/** An action with what it will do, said before it is done. */
export interface Confirm {
  label: string;
  look: string;
  action: string;
  effect: string;
  yes: string;
  /** The look of the button that does it: what ends something is not drawn as the way on. */
  button: 'primary' | 'danger';
  /** The step that a rerun begins with. */
  from: string | null;
}

export const confirmCancel = (run: ShownRun): Confirm => ({
  label: 'Cancel run',
  look: 'cancelled',
  action: paths.runCancel(run.id),
  effect: 'Stops this run. Completed steps are kept, and no further step runs.',
  yes: 'Cancel this run',
  button: 'danger',
  from: null,
});

/** A rerun from the start, or from a step. */
export const confirmRerun = (run: ShownRun, from: ShownStep | null): Confirm => ({
  label: from === null ? 'Rerun from the start' : 'Rerun from here',
  look: 'rerun',
  action: paths.runRerun(run.id),
  effect: `Starts a new run with the definition as it is now. ${asksAgain(run, from?.step_index ?? 0)}`,
  yes: 'Start the rerun',
  button: 'primary',
  from: from?.step_name ?? null,
});

/** What these steps spent is the best estimate of what they will spend. */
function asksAgain({ steps }: ShownRun, fromIndex: number): string {
  const again = steps.filter(({ step_index, status }) => step_index >= fromIndex && status !== 'skipped');
  const agents = new Set(again.flatMap(({ agent }) => agent ?? [])).size;
  const tokens = again.reduce((sum, step) => sum + (step.input_tokens ?? 0) + (step.output_tokens ?? 0), 0);
  if (agents === 0) return 'These steps asked no agent.';
  const cost = tokens === 0 ? '' : ` ${agents === 1 ? 'It' : 'They'} spent ${count(tokens)} tokens before.`;
  return `It asks ${plural(agents, 'agent')} again.${cost}`;
}
