import { emptySecrets } from './notifications-schema.ts';
import type { ConfigFile } from './schema.ts';

/** Warnings for the start-up log: missing authentication, deprecated keys. */
export function startUpWarnings(parsed: ConfigFile): string[] {
  const { auth } = parsed;
  const deprecated = (['teams', 'token'] as const).filter((key) => auth[key] !== undefined);
  const warnings = deprecated.map((key) =>
    auth.tokens ? `auth.${key} is ignored because auth.tokens is set` : `auth.${key} is deprecated; use auth.tokens`,
  );
  if (auth.allow_unauthenticated) warnings.push('auth.allow_unauthenticated is true: the API and the UI need no token');
  if (parsed.server.forwarded_allow_ips.includes('*')) {
    warnings.push('server.forwarded_allow_ips is *: any caller can set the forwarded address and protocol');
  }
  warnings.push(...emptySecrets(parsed.notifications).map((key) => `${key} is empty: the channel will fail`));
  return warnings;
}
