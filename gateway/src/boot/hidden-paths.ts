import { accessSync, constants, existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GatewayConfig } from '../config/schema.ts';
import type { Sandbox } from '../tools/sandbox.ts';
import type { GatewayOptions } from './stages.ts';

type Places = Pick<GatewayOptions, 'config' | 'configPath'>;
type Covered = { ok: true; paths: Pick<Sandbox, 'hidden' | 'pinned' | 'readOnly'> } | { ok: false; message: string };

/** What servers in namespaces neither see nor change. Mounts follow links, so none may be there that such a server could have made. */
export function coveredPaths(places: Places): Covered {
  const { agents_dir, identity_dir } = places.config;
  makeFolder(identity_dir);
  const hidden = hiddenPaths(places);
  const link = hidden.find((path) => isLink(path) && mayChange(dirname(path)));
  if (link !== undefined) {
    const message = `${link}: is a link that a tool server may have made; delete it, or name what it leads to`;
    return { ok: false, message };
  }
  const pinned = renameable([...hidden, ...tokenFiles(places.config), agents_dir]);
  return { ok: true, paths: { hidden, pinned, readOnly: [agents_dir] } };
}

/** What may hold a secret of the gateway, or of what runs beside it. The folder of tokens is not hidden as a whole: it may be the folder of everything. */
export function secretFiles({ config, configPath }: Places): string[] {
  const { isolation_hide, server } = config;
  const own = [...(configPath === null ? [] : [configPath]), ...(server.tls ? [server.tls.key] : [])];
  return [...own, ...tokenFiles(config), ...isolation_hide];
}

const tokenFiles = ({ identity_dir }: GatewayConfig) =>
  ['device-auth.json', 'runner-signing-key.pem'].map((file) => join(identity_dir, file));

/** The gateway writes files of tokens only before it starts servers: one that is missing then holds no secret, whatever a server puts there. */
function hiddenPaths(places: Places): string[] {
  const missing = new Set(tokenFiles(places.config).filter((path) => !existsSync(path) && !isLink(path)));
  return secretFiles(places).filter((path) => !missing.has(path));
}

/** The folders around these paths that this user may rename, and put others in their place; outer ones first. */
function renameable(paths: readonly string[]): string[] {
  const folders = new Set(paths.flatMap(foldersAround));
  return [...folders]
    .filter((folder) => existsSync(folder) && mayChange(dirname(folder)))
    .toSorted((a, b) => a.length - b.length);
}

function foldersAround(path: string): string[] {
  const folder = dirname(path);
  return folder === dirname(folder) ? [] : [...foldersAround(folder), folder];
}

/** Whether this user may write in a folder, or give itself the right to. */
function mayChange(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    const isReadOnly = error instanceof Error && 'code' in error && error.code === 'EROFS';
    return !isReadOnly && statSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.();
  }
}

/** So that it is pinned; where this user cannot make it, no server can. */
const makeFolder = (path: string) =>
  attempt(() => {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return true;
  });
const isLink = (path: string) => attempt(() => lstatSync(path).isSymbolicLink());

/** False also where this user may not look. */
function attempt(look: () => boolean): boolean {
  try {
    return look();
  } catch {
    return false;
  }
}
