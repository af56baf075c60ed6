import { z } from 'zod';
import { block, flag, text, whole } from './fields.ts';

export const TOKEN_ROLES = ['admin', 'operator', 'viewer', 'webhook', 'reload'] as const;

const TokenEntry = z
  .strictObject({
    name: text().max(128).describe('Name of the caller in logs and in the audit log'),
    token: text().describe('The secret; write `${NAME}` to read it from the environment'),
    role: z
      .enum(TOKEN_ROLES)
      .describe('Role of the token; `webhook` may only call the webhook, `reload` only `POST /reload`'),
    team: text()
      .max(128)
      .optional()
      .describe('Team of the runs that this token starts; only valid for the role `webhook`'),
    rate_limit: whole(1)
      .optional()
      .describe('Deliveries a minute; over it the webhook answers 429. Only valid for the role `webhook`'),
    daily_bytes: whole(1)
      .optional()
      .describe('Bytes of all deliveries of a day in UTC, likewise; a body without a length counts as the largest'),
  })
  .superRefine((entry, context) => {
    if (entry.role === 'webhook') return;
    for (const key of ['team', 'rate_limit', 'daily_bytes'] as const)
      if (entry[key] !== undefined)
        context.addIssue({ code: 'custom', path: [key], message: 'is only valid on a webhook token' });
  });

/** `auth` of the configuration file (Orchestration 2.14 and 5). `teams` and `token` are the deprecated forms. */
export const AuthBlock = block({
  tokens: z
    .array(TokenEntry)
    .superRefine(noRepeats)
    .optional()
    .describe('Tokens for the API and the pages; names and tokens must be unique'),
  teams: z
    .array(
      z.strictObject({
        name: text().max(128).describe('Name of the team'),
        token: text().describe('Webhook token of the team'),
      }),
    )
    .optional()
    .describe('Deprecated: webhook tokens by team; ignored when `tokens` is set'),
  token: text().optional().describe('Deprecated: a single token; ignored when `tokens` is set'),
  allow_unauthenticated: flag()
    .default(false)
    .describe('Serve the API and the pages without authentication; logs a warning at every start'),
  metrics_auth: flag().default(false).describe('Whether `/metrics` requires a token with the role `viewer` or higher'),
  session_secret: text()
    .optional()
    .describe('Key that signs page sessions; without it a random key is used and sessions end at a restart'),
  session_max_age_seconds: whole(60).default(28_800).describe('How long a session lasts after a login'),
  session_max_age_remembered_seconds: whole(60)
    .default(2_592_000)
    .describe('How long a session lasts after a login with "Remember me"'),
});
export type AuthBlock = z.infer<typeof AuthBlock>;

function noRepeats(entries: { name: string; token: string }[], context: z.RefinementCtx): void {
  const names = new Set<string>();
  const secrets = new Set<string>();
  for (const [index, { name, token }] of entries.entries()) {
    if (names.has(name))
      context.addIssue({ code: 'custom', path: [index, 'name'], message: `"${name}" is used twice` });
    if (token !== '' && secrets.has(token))
      context.addIssue({ code: 'custom', path: [index, 'token'], message: 'is also the token of another entry' });
    names.add(name);
    secrets.add(token);
  }
}
