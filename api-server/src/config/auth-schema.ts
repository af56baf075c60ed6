import { z } from 'zod';
import { block, flag, text, whole } from './fields.ts';

export const TOKEN_ROLES = ['admin', 'operator', 'viewer', 'webhook'] as const;

const TokenEntry = z
  .strictObject({ name: text().max(128), token: text(), role: z.enum(TOKEN_ROLES), team: text().max(128).optional() })
  .refine((entry) => entry.team === undefined || entry.role === 'webhook', {
    path: ['team'],
    message: 'is only valid on a webhook token',
  });

/** `auth` of the configuration file (Orchestration 2.14 and 5). `teams` and `token` are the deprecated forms. */
export const AuthBlock = block({
  tokens: z.array(TokenEntry).superRefine(noRepeats).optional(),
  teams: z.array(z.strictObject({ name: text().max(128), token: text() })).optional(),
  token: text().optional(),
  allow_unauthenticated: flag().default(false),
  metrics_auth: flag().default(false),
  session_secret: text().optional(),
  session_max_age_seconds: whole(60).default(28_800),
  session_max_age_remembered_seconds: whole(60).default(2_592_000),
});
export type AuthBlock = z.infer<typeof AuthBlock>;

function noRepeats(entries: { name: string; token: string }[], context: z.RefinementCtx): void {
  const names = new Set<string>();
  const secrets = new Set<string>();
  for (const [index, { name, token }] of entries.entries()) {
    if (names.has(name))
      context.addIssue({ code: 'custom', path: [index, 'name'], message: `"${name}" is used twice` });
    if (secrets.has(token))
      context.addIssue({ code: 'custom', path: [index, 'token'], message: 'is the token of another entry too' });
    names.add(name);
    secrets.add(token);
  }
}
