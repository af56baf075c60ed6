import cronstrue from 'cronstrue';

/** A cron expression in words; as it is written where it has none. */
export function cronWords(cron: string): string {
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true });
  } catch {
    return cron;
  }
}
