/** One deterministic check as the page shows it. */
export interface CheckRow {
  name: string;
  passed: boolean | null;
  detail: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The checks of a step, whatever shape their details have. */
export const checkRows = (checks: unknown[]): CheckRow[] =>
  checks
    .filter((check) => typeof check === 'object' && check !== null)
    .map((check) => {
      const fields = check as Record<string, unknown>;
      return {
        name: text(fields['name']) || text(fields['type']) || 'check',
        passed: typeof fields['passed'] === 'boolean' ? fields['passed'] : null,
        detail: text(fields['message']) || text(fields['detail']) || text(fields['error']),
      };
    });
