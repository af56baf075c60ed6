/** Metrics and labels of rows, as they are stored. */
export type CounterNames = readonly (readonly [metric: string, labels: string])[];

/** The rows that were stored since they were asked for the last time; null where all may have been. */
export type TakeChanged = () => CounterNames | null;

/** Roll-ups whose names are kept for a scrape. */
const MOST_CHANGED = 5_000;

/** Keeps the names of what was stored until they are taken. */
export function collectChanged(most = MOST_CHANGED): {
  add(row: { metric: string; labels: string }): void;
  take: TakeChanged;
} {
  let names = new Map<string, readonly [string, string]>();
  return {
    add: ({ metric, labels }) => {
      if (names.size <= most) names.set(`${metric}\n${labels}`, [metric, labels]);
    },
    take: () => {
      const taken = names;
      names = new Map();
      return taken.size > most ? null : [...taken.values()];
    },
  };
}
