export type Theme = 'system' | 'light' | 'dark';

export const THEME_COOKIE = 'signalbox_theme';

/** The theme somebody chose by hand; `system` follows the browser. */
export function themeOf(cookieHeader: string | undefined): Theme {
  const value = /(?:^|;\s*)signalbox_theme=(light|dark)(?:;|$)/.exec(cookieHeader ?? '')?.[1];
  return value === 'light' || value === 'dark' ? value : 'system';
}

const ORDER: Record<Theme, { value: Theme; label: string }> = {
  system: { value: 'light', label: 'Light' },
  light: { value: 'dark', label: 'Dark' },
  dark: { value: 'system', label: 'System' },
};
export const nextTheme = (theme: Theme): { value: Theme; label: string } => ORDER[theme];

/** The cookie that keeps a choice for a year; it holds no secret, and scripts never need it. */
export const themeCookie = (theme: Theme): string =>
  `${THEME_COOKIE}=${theme}; Path=/ui; Max-Age=${theme === 'system' ? 0 : 31_536_000}; SameSite=Lax; HttpOnly`;
