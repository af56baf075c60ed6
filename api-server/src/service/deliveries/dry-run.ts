import type { Snapshot } from '../../definitions/snapshot.ts';
import type { TriggerContext } from '../../runs/state/model.ts';
import { closestPipelines, shownValue } from '../../triggers/closest.ts';
import type { Choice } from '../../triggers/coverage.ts';
import type { FirstPrompt } from '../../triggers/first-prompt.ts';
import type { IntakeRequest } from '../../triggers/intake-deps.ts';
import type { Delivery, Preview } from '../../triggers/model.ts';
import { WHERE_CLOSEST } from '../../triggers/resolve.ts';
import type { Decision } from './decision.ts';

type Room = 'accepted' | 'queued' | 'at_capacity';

export interface DryRunDeps {
  definitions(): Snapshot;
  /** The decision of `intake`, without storing anything: which alert the run would be for, and the run that suppresses it. */
  choose(request: IntakeRequest): Promise<Pick<Choice, 'request' | 'duplicate'>>;
  roomFor(request: IntakeRequest): Room | Promise<Room>;
  firstPrompt(request: IntakeRequest): Promise<FirstPrompt | null>;
}

/** The dry run of one context; a pipeline that would refuse it is shown as if it accepted it. */
export async function preview(
  deps: DryRunDeps,
  { withPrompt, team }: Delivery,
  first: TriggerContext,
  decision: Decision,
): Promise<Preview> {
  const { request, duplicate } = decision.request ? await deps.choose(decision.request) : NOTHING;
  const { raw: _, ...context } = request?.context ?? first;
  const { name, config } = request?.pipeline ?? { name: context.pipeline, config: { stage: null } };
  return {
    status: 'dry_run',
    pipeline: name,
    stage: config.stage,
    fingerprint: context.fingerprint,
    dedup: { duplicate: duplicate !== null, runId: duplicate ? duplicate.id : null },
    context,
    ...(withPrompt && { prompt: request && (await deps.firstPrompt(request)), rules: rulesOf(request) }),
    ...(request === null && { closest: closestPipelines(deps.definitions(), first, team) }),
    ...(await outlook(deps, decision, { request, duplicate })),
  };
}

function rulesOf(request: IntakeRequest | null): Preview['rules'] {
  if (request === null || request.pipeline.match === null) return null;
  const { context, team } = request;
  return request.pipeline.match
    .compare({ ...context, team })
    .map((one) => ({ ...one, actual: shownValue(one.actual) }));
}

type Chosen = { request: IntakeRequest | null; duplicate: Choice['duplicate'] };
const NOTHING: Chosen = { request: null, duplicate: null };

async function outlook(
  deps: DryRunDeps,
  decision: Decision,
  { request, duplicate }: Chosen,
): Promise<Pick<Preview, 'would' | 'reason'>> {
  if (!decision.go) {
    const { verdict } = decision;
    const reason = verdict.status === 'no_pipeline' ? verdict.message.replace(WHERE_CLOSEST, '') : verdict.reason;
    return { would: verdict.status, reason };
  }
  return { would: duplicate ? 'deduplicated' : await deps.roomFor(request ?? decision.request), reason: null };
}
