import { tokensOf } from './config.ts';
import { emptySecrets } from './notifications-schema.ts';
import type { ConfigFile } from './schema.ts';

/** Approvers that are neither a token nor a user of a chat: they can never decide. */
function unknownApprovers({ approvals, auth }: ConfigFile): string[] {
  const tokens = new Set(tokensOf(auth).map(({ name }) => name));
  const named = Object.entries(approvals.approvers ?? {}).flatMap(([team, persons]) =>
    persons.flat().map((name) => ({ team, name })),
  );
  return named
    .filter(({ name }) => !tokens.has(name) && !/^(slack|telegram):./.test(name))
    .map(({ team, name }) => `approvals.approvers.${team}: ${name} is no token and no user of a chat`);
}

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
  warnings.push(...unknownApprovers(parsed));
  warnings.push(...emptySecrets(parsed.notifications).map((key) => `${key} is empty: the channel will fail`));
  return warnings;
}
