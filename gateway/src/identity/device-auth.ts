import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readIfPresent, writePrivate } from './private-file.ts';

const MIN_CHARS = 16;
const DeviceAuth = z.object({ admin_token: z.string().min(MIN_CHARS), invoke_token: z.string().min(MIN_CHARS) });

/** The tokens of the service, and where admin and invoke are from; only what this start minted is printed. */
export interface Tokens {
  admin: string;
  invoke: string;
  /** Never minted, like the next; null where none is configured. */
  approve: string | null;
  reload: string | null;
  from: 'environment' | 'file' | 'minted';
}

interface TokenSources {
  identityDir: string;
  /** Where both are set they are used, and nothing is written. */
  adminToken: string | undefined;
  invokeToken: string | undefined;
  approveToken: string | undefined;
  reloadToken: string | undefined;
  mint: () => string;
}

export type TokensResult = { ok: true; tokens: Tokens } | { ok: false; message: string };
type Extra = 'approve' | 'reload';
type Minted = { ok: true; tokens: Omit<Tokens, Extra> } | { ok: false; message: string };

export const tokenFile = (identityDir: string): string => join(identityDir, 'device-auth.json');

/** Admin and invoke token by their sources, and the approve and reload tokens where they are configured. */
export function loadTokens(sources: TokenSources): TokensResult {
  const loaded = adminAndInvoke(sources);
  if (!loaded.ok) return loaded;
  const { admin, invoke } = loaded.tokens;
  const approve = sources.approveToken || null;
  const reload = sources.reloadToken || null;
  const message =
    problemOf('GATEWAY_APPROVE_TOKEN', approve, [admin, invoke]) ??
    problemOf('GATEWAY_RELOAD_TOKEN', reload, [admin, invoke, approve]);
  return message === null ? { ok: true, tokens: { ...loaded.tokens, approve, reload } } : { ok: false, message };
}

function problemOf(name: string, token: string | null, others: readonly (string | null)[]): string | null {
  if (token === null) return null;
  if (token.length < MIN_CHARS) return `${name}: has fewer than ${MIN_CHARS} characters`;
  return others.includes(token) ? `${name}: must differ from the other tokens` : null;
}

/** Tokens from the environment, else from `device-auth.json`, else minted into it with mode 0600 (Gateway 5). */
function adminAndInvoke(sources: TokenSources): Minted {
  const { adminToken: admin, invokeToken: invoke } = sources;
  if (admin && invoke) {
    if (admin === invoke) return { ok: false, message: 'GATEWAY_INVOKE_TOKEN: must differ from GATEWAY_ADMIN_TOKEN' };
    return { ok: true, tokens: { admin, invoke, from: 'environment' } };
  }
  if (admin || invoke) {
    return { ok: false, message: `${admin ? 'GATEWAY_INVOKE_TOKEN' : 'GATEWAY_ADMIN_TOKEN'}: set both tokens or none` };
  }
  try {
    return readOrMint(sources);
  } catch (error) {
    return { ok: false, message: `identity_dir: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function readOrMint({ identityDir, mint }: TokenSources): Minted {
  mkdirSync(identityDir, { recursive: true, mode: 0o700 });
  const path = tokenFile(identityDir);
  const text = readIfPresent(path);
  if (text !== null) {
    const stored = parseStored(text);
    if (!stored) return { ok: false, message: `identity_dir: ${path} is damaged; delete it to mint new tokens` };
    return { ok: true, tokens: { admin: stored.admin_token, invoke: stored.invoke_token, from: 'file' } };
  }
  const tokens = { admin: mint(), invoke: mint(), from: 'minted' as const };
  writePrivate(path, `${JSON.stringify({ admin_token: tokens.admin, invoke_token: tokens.invoke }, null, 2)}\n`);
  return { ok: true, tokens };
}

function parseStored(text: string): z.infer<typeof DeviceAuth> | null {
  try {
    const parsed = DeviceAuth.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
