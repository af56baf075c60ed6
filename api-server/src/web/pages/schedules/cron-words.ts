import cronstrue from 'cronstrue';

/** A cron expression in words, or unchanged where it cannot be described. */
export function cronWords(cron: string): string {
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true });
  } catch {
    return cron;
  }
}
