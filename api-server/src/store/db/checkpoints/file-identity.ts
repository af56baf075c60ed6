import { statSync } from 'node:fs';

/** Null where there is no such file, or none that can be reached. */
export function identityOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}/${ino}`;
  } catch {
    return null;
  }
}
