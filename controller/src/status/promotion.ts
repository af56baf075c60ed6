import { keyOf, type ServiceView } from '../observe/service-view.ts';
import type { Verdict } from '../plan/plan.ts';
import type { Said } from './said.ts';

type Outcome = Pick<Said, 'status' | 'reason' | 'message'>;

/** The condition PromotionReady: the readiness verdict of the service, advisory but for the gate (Design 7). */
export function promotionOf({ object, served }: Verdict, view: ServiceView): Outcome {
  const name = served?.name;
  const verdicts =
    name === undefined || !view.asked
      ? []
      : view.replicas.flatMap(({ verdicts: of }) => of.get(keyOf(object.kind, name)) ?? []);
  // Replicas look at the same evidence at different times: the least sure one is believed.
  const verdict = verdicts.find((one) => one !== 'ready') ?? verdicts[0];
  const outcome = VERDICTS[verdict ?? ''] ?? NOT_ASSESSED;
  return served?.held === true && outcome.status !== 'True'
    ? { ...outcome, message: `${outcome.message}; until it is ready the gate keeps the pipeline at stage testing` }
    : outcome;
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
    message: 'the pipeline has no readiness criteria, so nothing says when it is ready',
  },
};
