import type { PromptVersionView } from '../../../service/views/analytics/versions.ts';
import { ago, count, exactTime } from '../format.ts';
import { paths } from '../paths.ts';
import { patchLines } from '../diff/patch-lines.ts';

/** Versions on one page; all of them come from the JSON route. */
export const MOST_VERSIONS = 20;

type Seen = Pick<PromptVersionView, 'first_seen_at' | 'last_seen_at'>;

/** When a version was in use. */
export function seen({ first_seen_at: first, last_seen_at: last }: Seen, now: number) {
  const since = (iso: string) => ({
    text: ago(iso, now),
    exact: exactTime(iso),
  });
  return { first: since(first), last: since(last) };
}

export const numbered = (text: string) =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .map((line, at) => ({ number: at + 1, text: line }));

interface Around {
  step: string;
  now: number;
  /** Hashes of the prompts that loaded definitions use for this step. */
  current: ReadonlySet<string>;
  /** The JSON route with all versions. */
  route: string;
}

/** The prompts that a step used, the newest expanded, each with its diff. */
export function promptVersionsView(versions: readonly PromptVersionView[], { step, now, current, route }: Around) {
  return {
    rows: versions.slice(0, MOST_VERSIONS).map((version, at) => ({
      anchor: `prompt-${encodeURIComponent(version.prompt_hash)}`,
      hash: version.prompt_hash,
      current: current.has(version.prompt_hash),
      open: at === 0,
      seen: seen(version, now),
      runs: `${count(version.runs_total)} run`.replace(/^(?!1 )(.*)$/, '$1s'),
      marked: `${count(version.labelled_n)} marked`,
      replay: version.template === null ? null : paths.replayNew({ step, version: version.prompt_hash }),
      diff: version.diff_from_previous === null ? null : patchLines(version.diff_from_previous, 'one'),
      text: version.template === null ? null : numbered(version.template),
    })),
    older: Math.max(0, versions.length - MOST_VERSIONS),
    route,
  };
}
