export const HOUR_MS = 3_600_000;
export const hourOf = (at: number): number => at - (at % HOUR_MS);

/** The longest names that a key takes; the migration that made the sums cuts at the same places. */
const LONGEST = { team: 120, agent: 120, provider: 100, model: 200 } as const;

/** A name as part of a key: empty for none, cut, and the same for every database. */
export const keyName = (kind: keyof typeof LONGEST, name: string | null): string =>
  (name ?? '').slice(0, LONGEST[kind]).toWellFormed().replaceAll('\0', '\uFFFD');

/** A fan-out branch counts under the name before the slash. */
export const family = (stepName: string): string => stepName.split('/', 1)[0] as string;
