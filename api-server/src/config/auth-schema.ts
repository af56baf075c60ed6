import { z } from 'zod';
import { block, flag, text, whole } from './fields.ts';

export const TOKEN_ROLES = ['admin', 'operator', 'viewer', 'webhook'] as const;

const TokenEntry = z
  .strictObject({
    name: text().max(128).describe('Who acts with it, as logs and the audit log say'),
    token: text().describe('The secret; write `${NAME}` to take it from the environment'),
    role: z.enum(TOKEN_ROLES).describe('What it may do; `webhook` reaches the webhook and nothing else'),
    team: text().max(128).optional().describe('Team of the runs that its deliveries start; on a webhook token only'),
  })
  .refine((entry) => entry.team === undefined || entry.role === 'webhook', {
    path: ['team'],
    message: 'is only valid on a webhook token',
  });

/** `auth` of the configuration file (Orchestration 2.14 and 5). `teams` and `token` are the deprecated forms. */
export const AuthBlock = block({
  tokens: z
    .array(TokenEntry)
    .superRefine(noRepeats)
    .optional()
    .describe('Everybody who may come in; names and tokens are unique'),
  teams: z
    .array(
      z.strictObject({
        name: text().max(128).describe('Name of the team'),
        token: text().describe('Its webhook token'),
      }),
    )
    .optional()
    .describe('Older form of webhook tokens; read with a warning and only without `tokens`'),
  token: text().optional().describe('Older form of one token; read with a warning and only without `tokens`'),
  allow_unauthenticated: flag()
    .default(false)
    .describe('Start without tokens, with everything open to everybody; warns at every start'),
  metrics_auth: flag().default(false).describe('Whether `/metrics` needs a viewer'),
  session_secret: text().optional().describe('Signs page sessions; without it they end with the process'),
  session_max_age_seconds: whole(60).default(28_800).describe('How long a session lasts'),
  session_max_age_remembered_seconds: whole(60)
    .default(2_592_000)
    .describe('How long a session lasts that asked to be remembered'),
});
export type AuthBlock = z.infer<typeof AuthBlock>;

function noRepeats(entries: { name: string; token: string }[], context: z.RefinementCtx): void {
  const names = new Set<string>();
  const secrets = new Set<string>();
  for (const [index, { name, token }] of entries.entries()) {
    if (names.has(name))
      context.addIssue({ code: 'custom', path: [index, 'name'], message: `"${name}" is used twice` });
    if (token !== '' && secrets.has(token))
      context.addIssue({ code: 'custom', path: [index, 'token'], message: 'is the token of another entry too' });
    names.add(name);
    secrets.add(token);
  }
}
