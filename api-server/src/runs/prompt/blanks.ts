import { startOf } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import { failure, type Failure } from '../state/executor.ts';
import type { StepContext } from '../state/step-context.ts';

/** Values that are named of one text, and characters of each. */
const MOST_VALUES = 20;
const MOST_CHARS = 200;

/** Notes in the run's log and for the step's evidence what a text of a step could not find. */
export const noteMissing =
  (what: string, { run, name }: { run: Pick<ActiveRun, 'journal' | 'blanks'>; name: string }) =>
  (path: string): void => {
    const value = startOf(path, MOST_CHARS);
    if (!noteBlank(run, { name, what, value })) return;
    run.journal.add('warn', 'template_missing_value', `${what} uses a value that does not exist: ${value}`, {
      step_name: name,
      value,
    });
  };

/** For the evidence alone: the log of a resumed run has the line already. False where too many are known of this text. */
export function noteBlank(
  { blanks }: Pick<ActiveRun, 'blanks'>,
  { name, what, value }: { name: string; what: string; value: string },
): boolean {
  const ofStep = blanks.get(name) ?? new Map<string, Set<string>>();
  const values = ofStep.get(what) ?? new Set<string>();
  blanks.set(name, ofStep.set(what, values));
  if (values.size >= MOST_VALUES && !values.has(value)) return false;
  values.add(value);
  return true;
}

/** Ends a step whose author wants no blanks; null where it may go on. */
export function refuseBlanks({ run, step, name }: Pick<StepContext, 'run' | 'step' | 'name'>): Failure | null {
  const own = 'on_missing_value' in step ? step.on_missing_value : undefined;
  if ((own ?? run.pipeline.on_missing_value) !== 'fail') return null;
  const blanks = [...(run.blanks.get(name) ?? [])].map(([what, values]) => `${what} uses ${[...values].join(', ')}`);
  if (blanks.length === 0) return null;
  return failure('missing_value', `${blanks.join('; ')}, which does not exist (on_missing_value: fail)`);
}
