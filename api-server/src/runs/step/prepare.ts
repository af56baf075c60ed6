import { failure, type Failure } from '../state/executor.ts';
import type { StepContext } from '../state/step-context.ts';
import type { Prepared, StepKind } from '../state/step-kind.ts';

/** What a step sends; a resumed one what it sent before. */
export async function prepare(
  { kinds }: { kinds: ReadonlyMap<string, StepKind> },
  ctx: StepContext,
): ReturnType<StepKind['prepare']> {
  const kind = kinds.get(ctx.step.executor);
  const earlier = ctx.run.inFlight.get(ctx.name)?.rawResponse ?? null;
  return (await kind?.prepare(ctx, earlier)) ?? notConfigured(ctx.step.executor);
}

const notConfigured = (executor: string): Failure =>
  failure('executor_missing', `executors.${executor} is not configured`);

/** A step that ends at once asks nobody. */
export const toBegin = (prepared: Prepared | Failure, spent: string | null): Prepared | null => {
  if (!prepared.ok) return null;
  return spent === null ? prepared : { ...prepared, withStart: () => [] };
};
