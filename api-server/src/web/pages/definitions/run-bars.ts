import { count } from '../format.ts';
import { statusLook } from '../status.ts';

export const RUNS_IN_BARS = 12;

/** The last runs of a pipeline as bars, the newest at the end, and in words. */
export function runBars(statuses: readonly string[]) {
  const looks = statuses.map((status) => statusLook(status));
  const words = [...Map.groupBy(looks, ({ word }) => word)].map(
    ([word, all]) => `${count(all.length)} ${word.toLowerCase()}`,
  );
  return looks.length === 0 ? null : { words: `Last runs: ${words.join(', ')}`, bars: looks.map(({ tone }) => tone) };
}
