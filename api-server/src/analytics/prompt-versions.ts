import type { Bucket } from './calibration.ts';
import { diffsInTime } from './text-diff.ts';

/** A prompt as the store knows it; times in milliseconds. */
export interface PromptUse {
  promptHash: string;
  /** Null where it was used by a program that did not keep it. */
  template: string | null;
  firstSeenAt: number;
  lastSeenAt: number;
  /** Executions that are still stored, in any stage. */
  runsTotal: number;
  labelledN: number;
  /** Where stored executions used it, by name; empty where all of them are removed. */
  pipelines: string[];
}

/** One edition of a step's prompt (Orchestration 2.9). */
export interface PromptVersion extends PromptUse {
  /** Unified, against the one before in the same pipeline; null for the oldest, and where one of the two texts is not known. */
  diffFromPrevious: string | null;
  calibration: Bucket[];
}

/** The editions of a step's prompt, newest first by when each was first used, each with what it changed. */
export function promptVersions(uses: readonly PromptUse[], buckets: readonly Bucket[]): PromptVersion[] {
  const newest = newestFirst(uses, ({ promptHash }) => promptHash);
  const isShared = new Set(newest.flatMap(({ pipelines }) => pipelines)).size > 1;
  const unified = diffsInTime();
  return newest.map((use, at) => {
    const previous = newest.slice(at + 1).find((older) => !isShared || haveOnePipeline(older, use));
    return {
      ...use,
      diffFromPrevious: diff(previous, use, unified),
      calibration: buckets.filter(({ promptHash }) => promptHash === use.promptHash),
    };
  });
}

const haveOnePipeline = (a: PromptUse, b: PromptUse): boolean => a.pipelines.some((name) => b.pipelines.includes(name));

/** By first use; of two that began together the one that is still used, and then any, but always the same one. */
export const newestFirst = <T extends { firstSeenAt: number; lastSeenAt: number }>(
  rows: readonly T[],
  name: (row: T) => string,
): T[] =>
  rows.toSorted((a, b) => b.firstSeenAt - a.firstSeenAt || b.lastSeenAt - a.lastSeenAt || (name(a) < name(b) ? -1 : 1));

function diff(
  previous: PromptUse | undefined,
  { promptHash, template }: PromptUse,
  unified: ReturnType<typeof diffsInTime>,
): string | null {
  if (!previous || previous.template === null || template === null) return null;
  return unified({ name: previous.promptHash, text: previous.template }, { name: promptHash, text: template });
}
