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
  const previous = previousOf(newest);
  const byPrompt = Map.groupBy(buckets, ({ promptHash }) => promptHash);
  const unified = diffsInTime();
  return newest.map((use, at) => ({
    ...use,
    diffFromPrevious: diff(previous[at], use, unified),
    calibration: byPrompt.get(use.promptHash) ?? [],
  }));
}

/** For each edition the one before it in one of its pipelines; where there is one pipeline at most, the one before it. */
function previousOf(newest: readonly PromptUse[]): (PromptUse | undefined)[] {
  const oldest = newest.toReversed();
  const names = oldest.map(({ pipelines }) => pipelines);
  if (new Set(names.flat()).size <= 1) return newest.slice(1);
  const lastIn = new Map<string, number>();
  const previous = names.map((pipelines, at) => {
    const before = pipelines.reduce((latest, name) => Math.max(latest, lastIn.get(name) ?? -1), -1);
    for (const name of pipelines) lastIn.set(name, at);
    return oldest[before];
  });
  return previous.toReversed();
}

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
