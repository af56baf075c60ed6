import { keyOf, type ReadinessVerdict, type ServiceView } from '../observe/service-view.ts';
import type { Verdict } from '../plan/plan.ts';
import type { Outcome } from './new-condition.ts';

/**
 * The condition PromotionReady: the readiness verdict of the service, advisory except for the gate. Only replicas that
 * have loaded this edition count: the verdict on the edition before must not open the gate to another prompt.
 */
export function promotionOf({ object, served }: Verdict, view: ServiceView): Outcome {
  const key = served ? keyOf(object.kind, served.name) : null;
  const verdicts =
    key === null || !view.asked
      ? []
      : view.replicas
          .filter(({ hashes }) => hashes.get(key) === served?.hash)
          .flatMap((replica) => replica.verdicts.get(key) ?? []);
  // Replicas assess the same evidence at different times: a verdict other than ready wins.
  const found = verdicts.find(({ verdict }) => verdict !== 'ready') ?? verdicts[0];
  const outcome = outcomeOf(found);
  return served?.held === true && outcome.status !== 'True'
    ? { ...outcome, message: `${outcome.message}; the readiness gate keeps the pipeline at stage testing until then` }
    : outcome;
}

function outcomeOf(found: ReadinessVerdict | undefined): Outcome {
  const known = VERDICTS[found?.verdict ?? ''];
  if (!known) return NOT_ASSESSED;
  return found?.reason === undefined ? known : { ...known, message: found.reason };
}

const NOT_ASSESSED: Outcome = {
  status: 'Unknown',
  reason: 'NotAssessed',
  message: 'the service has given no verdict on this pipeline',
};

const VERDICTS: Readonly<Record<string, Outcome>> = {
  ready: { status: 'True', reason: 'Ready', message: 'the evidence meets every criterion' },
  not_ready: { status: 'False', reason: 'NotReady', message: 'the evidence does not meet every criterion' },
  building: { status: 'False', reason: 'Building', message: 'there is too little evidence so far' },
  no_data: { status: 'False', reason: 'NoData', message: 'there is no evidence yet' },
  not_configured: {
    status: 'Unknown',
    reason: 'NotConfigured',
    message: 'the pipeline has no readiness criteria, so no verdict is possible',
  },
};
