export type Theme = 'system' | 'light' | 'dark';

export const THEME_COOKIE = 'signalbox_theme';

export const asTheme = (value: unknown): Theme => (value === 'light' || value === 'dark' ? value : 'system');

/** The chosen theme; `system` follows the browser. */
export const themeOf = (cookies: Record<string, string | undefined>): Theme => asTheme(cookies[THEME_COOKIE]);

const ORDER: Record<Theme, { value: Theme; label: string }> = {
  system: { value: 'light', label: 'Light' },
  light: { value: 'dark', label: 'Dark' },
  dark: { value: 'system', label: 'System' },
};
export const nextTheme = (theme: Theme): { value: Theme; label: string } => ORDER[theme];

/** The cookie lasts a year. Scripts do not need it, so it is HTTP-only. */
export const themeCookie = (theme: Theme) =>
  ({ path: '/ui', maxAge: theme === 'system' ? 0 : 31_536_000, sameSite: 'lax', httpOnly: true }) as const;
