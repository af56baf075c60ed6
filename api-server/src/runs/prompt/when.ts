import type { ActiveRun } from '../state/active-run.ts';
import { failure, type Failure } from '../state/executor.ts';
import { runValues } from './run-values.ts';
import { ownerOf, type Templates } from './templates.ts';

/** An expression that could not be evaluated: because of what it says, or of how long it took. */
export const expressionFailure = (reason: string, message: string, type = 'expression_failed'): Failure =>
  failure(reason === 'compute_limit' ? reason : type, message);

interface StepIdentity {
  run: ActiveRun;
  name: string;
  locals?: Readonly<Record<string, unknown>>;
}

/**
 * A missing value skips the step with an event; a type error fails it, so that nothing runs by mistake. What has begun is not judged again
 * after a restart: people may have been asked, and may have answered.
 */
export async function evaluateWhen(
  { templates, now }: { templates: Templates; now(): number },
  { run, name, locals }: StepIdentity,
  when: string | undefined,
): Promise<'run' | 'skip' | Failure> {
  if (when === undefined || run.inFlight.has(name)) return 'run';
  const result = await templates.evaluate(when, runValues(run, now(), locals), ownerOf(run));
  if (result.ok) return result.value === true ? 'run' : 'skip';
  if (result.reason !== 'missing') return expressionFailure(result.reason, `when: ${result.msg}, in ${when}`);
  const message = `when: ${result.msg}, in ${when}; the step is skipped`;
  run.journal.add('warn', 'expression_missing_value', message, { step_name: name });
  return 'skip';
}
