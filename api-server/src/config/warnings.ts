import { emptySecrets } from './notifications-schema.ts';
import type { ConfigFile } from './schema.ts';

/** Keys that are validated but have no effect in this version; setting one logs a warning at every start. */
const WITHOUT_EFFECT = ['replay.regression'] as const;

/** Whether the file has a key, with any value. */
function isWritten(raw: unknown, key: string): boolean {
  const [head = '', ...rest] = key.split('.');
  if (typeof raw !== 'object' || raw === null || !(head in raw)) return false;
  return rest.length === 0 || isWritten((raw as Record<string, unknown>)[head], rest.join('.'));
}

/** Warnings for the start-up log: missing authentication, deprecated keys, keys without effect. `raw` is the file before defaults. */
export function startUpWarnings(raw: unknown, parsed: ConfigFile): string[] {
  const { auth } = parsed;
  const idle = WITHOUT_EFFECT.filter((key) => isWritten(raw, key));
  const deprecated = (['teams', 'token'] as const).filter((key) => auth[key] !== undefined);
  const warnings = deprecated.map((key) =>
    auth.tokens ? `auth.${key} is ignored because auth.tokens is set` : `auth.${key} is deprecated; use auth.tokens`,
  );
  if (auth.allow_unauthenticated) warnings.push('auth.allow_unauthenticated is true: the API and the UI need no token');
  if (parsed.server.forwarded_allow_ips.includes('*')) {
    warnings.push('server.forwarded_allow_ips is *: any caller can set the forwarded address and protocol');
  }
  warnings.push(...emptySecrets(parsed.notifications).map((key) => `${key} is empty: the channel will fail`));
  if (idle.length > 0) warnings.push(`no effect in this version: ${idle.join(', ')}`);
  return warnings;
}
