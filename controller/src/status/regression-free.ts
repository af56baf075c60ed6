import { type CustomObject, GOLDEN_SET } from '../objects/custom-object.ts';
import type { ServiceView } from '../observe/service-view.ts';
import type { Outcome } from './new-condition.ts';

/**
 * The condition RegressionFree: what the last scheduled replay of the golden set says that an annotation names. Advisory;
 * null where no set is named.
 */
export function regressionFreeOf(
  { annotations }: Pick<CustomObject, 'annotations'>,
  view: ServiceView,
): Outcome | null {
  const name = annotations[GOLDEN_SET];
  if (name === undefined) return null;
  if (!view.asked)
    return { status: 'Unknown', reason: 'NotObserved', message: 'the controller has no address of the service' };
  // Replicas share their golden sets; one of an earlier version does not report them.
  const found = view.replicas.map(({ goldenSets }) => goldenSets.get(name)).find((verdict) => verdict !== undefined);
  if (found === undefined)
    return { status: 'Unknown', reason: 'NoGoldenSet', message: `the service has no golden set ${name} in use` };
  const known = VERDICTS[found.verdict] ?? UNKNOWN;
  return { ...known, message: `golden set ${name}: ${found.reason}` };
}

const UNKNOWN: Omit<Outcome, 'message'> = { status: 'Unknown', reason: 'NotReplayed' };

const VERDICTS: Readonly<Record<string, Omit<Outcome, 'message'>>> = {
  regression_free: { status: 'True', reason: 'RegressionFree' },
  regressed: { status: 'False', reason: 'Regressed' },
};
