import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const Token = z.string().min(16);

/** One token for each role of both services, and the key that signs page sessions. */
export const LocalTokens = z.object({
  admin: Token,
  operator: Token,
  viewer: Token,
  webhook: Token,
  reload: Token,
  gateway_admin: Token,
  gateway_invoke: Token,
  gateway_approve: Token,
  gateway_reload: Token,
  session_secret: Token,
});
export type LocalTokens = z.infer<typeof LocalTokens>;

/** Reads `tokens.json` of the data directory; makes it, readable for its owner only, and adds the tokens that it lacks. */
export function localTokens(dataDir: string): LocalTokens {
  const path = join(dataDir, 'tokens.json');
  const text = readIfPresent(path);
  const known: Partial<LocalTokens> = text === null ? {} : parseTokens(path, text);
  const names = Object.keys(LocalTokens.shape);
  const made = Object.fromEntries(names.map((name) => [name, randomBytes(24).toString('hex')]));
  const tokens = LocalTokens.parse({ ...made, ...known });
  mkdirSync(dataDir, { recursive: true });
  if (names.some((name) => !(name in known)))
    writeFileSync(path, `${JSON.stringify(tokens, null, 2)}\n`, { mode: 0o600 });
  return tokens;
}

/** The variables that config/local/*.yaml and the gateway read. */
export function tokenEnvironment(tokens: LocalTokens): Record<string, string> {
  return {
    SIGNALBOX_ADMIN_TOKEN: tokens.admin,
    SIGNALBOX_OPERATOR_TOKEN: tokens.operator,
    SIGNALBOX_VIEWER_TOKEN: tokens.viewer,
    SIGNALBOX_WEBHOOK_TOKEN: tokens.webhook,
    SIGNALBOX_RELOAD_TOKEN: tokens.reload,
    SIGNALBOX_SESSION_SECRET: tokens.session_secret,
    GATEWAY_ADMIN_TOKEN: tokens.gateway_admin,
    GATEWAY_INVOKE_TOKEN: tokens.gateway_invoke,
    GATEWAY_APPROVE_TOKEN: tokens.gateway_approve,
    GATEWAY_RELOAD_TOKEN: tokens.gateway_reload,
  };
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function parseTokens(path: string, text: string): Partial<LocalTokens> {
  try {
    return LocalTokens.partial().parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${path} is damaged; delete it to make new tokens`, { cause });
  }
}
