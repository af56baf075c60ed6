import type { PromptVersionView } from '../../../service/views/analytics/versions.ts';
import { unlessBusy } from '../insights/summary.ts';
import type { PageDeps } from '../page-deps.ts';
import { unlessUnknown } from '../problems.ts';

/** Editions of a step's template, the newest first; none where the step is unknown or the reader is busy. */
export const versionsOf = async (
  { history }: Pick<PageDeps, 'history'>,
  step: string,
  signal: AbortSignal,
): Promise<readonly PromptVersionView[]> =>
  (await unlessBusy(history.promptVersions(step, signal).catch(unlessUnknown))) ?? [];
