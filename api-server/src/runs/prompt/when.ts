import type { ActiveRun } from '../state/active-run.ts';
import { failure, type Failure } from '../state/executor.ts';
import { runValues } from './run-values.ts';
import type { Templates } from './templates.ts';

const failed = (msg: string, source: string) => failure('expression_failed', `when: ${msg}, in ${source}`);

interface StepIdentity {
  run: ActiveRun;
  name: string;
  locals?: Readonly<Record<string, unknown>>;
}

/** A missing value skips the step with an event; a type error fails it, so that nothing runs by mistake. */
export function evaluateWhen(
  { templates, now }: { templates: Templates; now(): number },
  { run, name, locals }: StepIdentity,
  when: string | undefined,
): 'run' | 'skip' | Failure {
  if (when === undefined) return 'run';
  const compiled = templates.expression(when);
  if (!compiled.ok) return failed(compiled.msg, when);
  const result = compiled.expression.evaluate(runValues(run, now(), locals));
  if (result.ok) return result.value === true ? 'run' : 'skip';
  if (result.reason !== 'missing') return failed(result.msg, when);
  const message = `when: ${result.msg}, in ${when}; the step is skipped`;
  run.journal.add('warn', 'expression_missing_value', message, { step_name: name });
  return 'skip';
}
