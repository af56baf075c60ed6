import type { PinOffer } from '../../../service/golden-sets/golden-sets.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { markView } from '../run/step/mark.ts';
import { OUTCOME_LOOKS } from './outcome.ts';

export interface PinInput {
  offer: PinOffer;
  operator: boolean;
  /** Why the form was not taken. */
  problem: string | null;
  entered: { name: string; note: string };
}

/** The form that pins one execution: into a set of its step, or into a new one. */
export function pinView({ offer, operator, problem, entered }: PinInput) {
  const { step, refused, sets, pinnedIn } = offer;
  const here = paths.goldenPin(step.runId, step.stepName);
  const labelled = step.outcome !== null;
  const has = new Set(pinnedIn.map(({ id }) => id));
  const open = sets.filter(({ id }) => !has.has(id));
  return {
    runPath: paths.run(step.runId, { step: step.stepName }),
    listPath: paths.goldenSets(),
    pipeline: step.pipelineName,
    step: step.stepName,
    summary: step.summary,
    look: step.outcome === null ? null : OUTCOME_LOOKS[step.outcome],
    refused: refused === null ? null : `${refused.slice(0, 1).toUpperCase()}${refused.slice(1)}.`,
    pinnedIn: pinnedIn.map(({ id, name }) => ({ name, href: paths.goldenSet(id) })),
    mark:
      refused !== null || labelled
        ? null
        : { ...markView({ mark: null, step: step.stepName, operator, action: paths.runFeedback(step.runId) }), here },
    form:
      refused === null && labelled && operator
        ? {
            action: '/ui/golden-sets/pin',
            run: step.runId,
            step: step.stepName,
            family: step.family,
            sets: open.map(({ id, name, members }) => ({ id, label: `${name} (${plural(members, 'member')})` })),
            ...entered,
            problem,
          }
        : null,
    readOnly: refused === null && !operator,
  };
}
