import { failure, type Failure } from '../state/executor.ts';
import type { StepContext } from '../state/step-context.ts';
import type { StepKind } from '../state/step-kind.ts';
import { refusePrompt } from './answer-room.ts';

/** What a step sends, as far as its run has room for it. */
export async function prepare(
  { kinds }: { kinds: ReadonlyMap<string, StepKind> },
  ctx: StepContext,
): ReturnType<StepKind['prepare']> {
  const kind = kinds.get(ctx.step.executor);
  const earlier = ctx.run.inFlight.get(ctx.name)?.rawResponse ?? null;
  const prepared = (await kind?.prepare(ctx, earlier)) ?? notConfigured(ctx.step.executor);
  return (prepared.ok && refusePrompt(ctx.run, prepared.raw)) || prepared;
}

const notConfigured = (executor: string): Failure =>
  failure('executor_missing', `executors.${executor} is not configured`);
