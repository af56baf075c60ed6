import type { PromptVersion } from '../../../analytics/prompt-versions.ts';
import { age, count, exactTime } from '../format.ts';
import { patchLines } from './patch-lines.ts';

/** Versions on one page; all of them come from the JSON route. */
export const MOST_VERSIONS = 20;

/** When an edition was in use, for people. */
export function seen({ firstSeenAt, lastSeenAt }: { firstSeenAt: number; lastSeenAt: number }, now: number) {
  const since = (ms: number) => {
    const iso = new Date(ms).toISOString();
    return { text: `${age(iso, now)} ago`.replace('now ago', 'just now'), exact: exactTime(iso) };
  };
  return { first: since(firstSeenAt), last: since(lastSeenAt) };
}

export const numbered = (text: string) =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .map((line, at) => ({ number: at + 1, text: line }));

interface Around {
  now: number;
  /** Hashes of the prompts that loaded definitions ask with under this name. */
  current: ReadonlySet<string>;
  /** Where all versions are. */
  route: string;
}

/** Every prompt that a step used, the newest open, each with what it changed. */
export function promptVersionsView(versions: readonly PromptVersion[], { now, current, route }: Around) {
  return {
    rows: versions.slice(0, MOST_VERSIONS).map((version, at) => ({
      anchor: `prompt-${encodeURIComponent(version.promptHash)}`,
      hash: version.promptHash,
      current: current.has(version.promptHash),
      open: at === 0,
      seen: seen(version, now),
      runs: `${count(version.runsTotal)} run`.replace(/^(?!1 )(.*)$/, '$1s'),
      marked: `${count(version.labelledN)} marked`,
      diff: version.diffFromPrevious === null ? null : patchLines(version.diffFromPrevious, 'one'),
      text: version.template === null ? null : numbered(version.template),
    })),
    older: Math.max(0, versions.length - MOST_VERSIONS),
    route,
  };
}
