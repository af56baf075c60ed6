import { duration } from '../../format.ts';

/** One deterministic check as the page shows it. */
export interface CheckRow {
  name: string;
  type: string;
  passed: boolean | null;
  /** What was expected and what was seen. */
  detail: string;
  took: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The checks of a step; details that do not fit are left out. */
export const checkRows = (checks: unknown[]): CheckRow[] =>
  checks
    .filter((check) => typeof check === 'object' && check !== null)
    .map((check) => {
      const fields = check as Record<string, unknown>;
      const seconds = fields['duration_seconds'];
      return {
        name: text(fields['name']) || text(fields['type']) || 'check',
        type: text(fields['type']),
        passed: typeof fields['passed'] === 'boolean' ? fields['passed'] : null,
        detail: text(fields['detail']) || text(fields['message']) || text(fields['error']),
        took: typeof seconds === 'number' ? duration(seconds) : '',
      };
    });
