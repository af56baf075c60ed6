import type { PromptVersionView } from '../../../service/views/analytics/versions.ts';
import { unlessBusy } from '../insights/summary.ts';
import type { PageDeps } from '../page-deps.ts';
import { unlessUnknown } from '../problems.ts';

/** Editions of a step's template, the newest first, and its calibration; none where the step is unknown or the reader is busy. */
export async function pastOf({ history }: Pick<PageDeps, 'history'>, step: string, signal: AbortSignal) {
  const known = await unlessBusy(history.step(step, signal).catch(unlessUnknown));
  return (await known?.of()) ?? { versions: [], buckets: [] };
}

export const versionsOf = async (
  deps: Pick<PageDeps, 'history'>,
  step: string,
  signal: AbortSignal,
): Promise<readonly PromptVersionView[]> => (await pastOf(deps, step, signal)).versions;
