import { paths } from '../../paths.ts';
import { trustBar } from '../../runs/row.ts';
import { actionWords } from '../../runs/result/view.ts';
import { isActive } from '../../status.ts';
import type { ShownRun } from '../step/shown-step.ts';

/** What the run concluded and proposes, above everything else; null while no agent has answered. */
export function resultView({ id, result, steps, status }: ShownRun) {
  if (result === null) return null;
  const step = steps.find(({ step_name: name }) => name === result.step_name);
  return {
    title: isActive(status) ? 'Conclusion so far' : 'Conclusion',
    // The step has the whole text; a list only its beginning.
    conclusion: step?.summary ?? result.conclusion,
    actions: actionWords(result),
    step: result.step_name,
    href: paths.run(id, { step: result.step_name, tab: 'output' }),
    trust: trustBar(result.trust, result.threshold, isActive(status)),
  };
}
