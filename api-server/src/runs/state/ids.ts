import { createHash, randomUUID } from 'node:crypto';

/** A UUID of version 7 (RFC 9562): `now` in milliseconds, then randomness, so that indexes grow at one end. */
export function newId(now: number): string {
  // Small integers are written as text ten times as fast as a whole time.
  const [high, low] = [Math.floor(now / 0x10000), now % 0x10000];
  return `${digitsOf(high, 8)}-${digitsOf(low, 4)}-7${randomUUID().slice(15)}`;
}

const digitsOf = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** A UUID of version 8 that is the same for the same run and text, before and after a restart. */
export function derivedId(runId: string, text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${runId.slice(0, 13)}-8${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

/** The same step of the same run has the same sub-run, before and after a restart. */
export const childId = (parentId: string, stepName: string): string => derivedId(parentId, `${parentId}/${stepName}`);
