import { limitedNamespace } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import type { EventHub } from '../state/events.ts';
import type { NewRun } from '../state/new-run.ts';
import { chargedOfAll } from '../state/charged.ts';
import { heldContext } from '../state/held.ts';
import { NO_SPAN } from '../state/span.ts';
import { StepResults } from '../state/step-results.ts';
import { stepView } from './step-view.ts';

export const depthUnder = (parent: ActiveRun | null): number => (parent === null ? 1 : parent.depth + 1);

/** A run at its beginning. */
export function activate(
  hub: EventHub,
  fresh: NewRun,
  { slot, concurrencyGroup, parent }: Pick<ActiveRun, 'slot' | 'concurrencyGroup' | 'parent'>,
): ActiveRun {
  const results = new StepResults(fresh.prior.map((step) => [step.stepName, stepView(step)] as const));
  return {
    id: fresh.id,
    pipeline: fresh.pipeline.config,
    context: heldContext(fresh.context),
    team: fresh.team,
    namespace: limitedNamespace(fresh.pipeline.standing),
    stage: fresh.stage,
    triggeredAt: fresh.triggeredAt,
    owner: fresh.owner,
    rerunOf: fresh.rerunOf ?? null,
    controller: new AbortController(),
    journal: hub.open(fresh.id, []),
    results,
    inFlight: new Map(),
    pending: [],
    totals: { inputTokens: 0, outputTokens: 0, cost: null, unpricedSteps: 0, warningCount: 0 },
    answers: { size: chargedOfAll(fresh.prior), kept: new Map() },
    below: { tokens: 0, cost: 0 },
    parent,
    blanks: new Map(),
    slot,
    depth: depthUnder(parent),
    concurrencyGroup,
    log: {},
    span: NO_SPAN,
    trust: null,
    threshold: null,
  };
}
