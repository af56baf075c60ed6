import { accessSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isStdio } from '../config/tool-server-schema.ts';
import type { GatewayConfig } from '../config/schema.ts';
import { tokenFile } from '../identity/device-auth.ts';
import { signingKeyFile } from '../identity/signing-key.ts';
import type { Sandbox } from '../tools/sandbox.ts';
import type { GatewayOptions } from './stages.ts';

type Places = Pick<GatewayOptions, 'config' | 'configPath'>;
type Covered =
  | { ok: true; paths: Pick<Sandbox, 'hidden' | 'pinned' | 'readOnly'>; warnings: string[] }
  | { ok: false; message: string };

/** What servers in namespaces neither see nor change, with `more` that is hidden. Mounts follow links, so none may be there that such a server could have made. */
export function coveredPaths(places: Places, more: readonly string[]): Covered {
  const { agents_dir, identity_dir } = places.config;
  const others = [agents_dir, ...(places.configPath === null ? [] : [places.configPath]), ...more];
  // Else it may be the folder of everything, in which servers have files of their own.
  const isOwn = !others.some((path) => `${resolve(path)}/`.startsWith(`${resolve(identity_dir)}/`));
  makeFolder(identity_dir);
  const hidden = [...hiddenPaths(places), ...more];
  const link = hidden.find((path) => isLink(path) && mayChange(dirname(path)));
  if (link !== undefined) {
    const message = `${link}: is a link that a tool server may have made; delete it, or name what it leads to`;
    return { ok: false, message };
  }
  const pinned = renameable([...hidden, ...tokenFiles(places.config), agents_dir]);
  return {
    ok: true,
    paths: { hidden, pinned, readOnly: isOwn ? [agents_dir, identity_dir] : [agents_dir] },
    warnings: renewalWarnings(places.config),
  };
}

/** What may hold a secret of the gateway, or of what runs beside it. The folder of tokens is not hidden as a whole: it may be the folder of everything. */
export function secretFiles({ config, configPath }: Places): string[] {
  const { isolation_hide, server } = config;
  const own = [...(configPath === null ? [] : [configPath]), ...(server.tls ? [server.tls.key] : [])];
  return [...own, ...tokenFiles(config), ...isolation_hide];
}

const tokenFiles = ({ identity_dir }: GatewayConfig) => [tokenFile(identity_dir), signingKeyFile(identity_dir)];

/** The gateway writes files of tokens only before it starts servers: one that is missing then holds no secret, whatever a server puts there. */
function hiddenPaths(places: Places): string[] {
  const { config } = places;
  const missing = new Set(tokenFiles(config).filter((path) => !existsSync(path) && !isLink(path)));
  const key = config.server.tls?.key;
  const paths = secretFiles(places).flatMap((path) => (path === key ? placesOfKey(path, config) : [path]));
  return [...new Set(paths)].filter((path) => !missing.has(path));
}

/** A renewed key is another file, which a mount on the one before does not cover: the folder is hidden where no server needs it. */
function placesOfKey(key: string, { mcp_servers }: GatewayConfig): string[] {
  const files = existsSync(key) ? [key, realpathSync(key)] : [key];
  const servers = JSON.stringify(Object.values(mcp_servers).filter(isStdio));
  const isNamed = files.map(dirname).some((folder) => servers.includes(`${folder}/`) || servers.includes(`${folder}"`));
  return files.map((file) => (!isNamed && holdsOnlyKeys(dirname(file)) ? dirname(file) : file));
}

/** As Kubernetes, cert-manager and certbot name what is in such folders. */
const OF_KEYS = /^\.\.|^README$|\.(pem|key|crt|cer)$/;
const holdsOnlyKeys = (folder: string) => attempt(() => readdirSync(folder).every((name) => OF_KEYS.test(name)));

function renewalWarnings(config: GatewayConfig): string[] {
  const { tls } = config.server;
  if (tls === undefined || placesOfKey(tls.key, config).every(isFolder)) return [];
  return [
    `a tool server that runs can read what replaces ${tls.key}; keep it in a folder of keys and certificates that no server is told of`,
  ];
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
export function mayChange(folder: string): boolean {
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
export const isFolder = (path: string) => attempt(() => statSync(path).isDirectory());

/** False also where this user may not look. */
function attempt(look: () => boolean): boolean {
  try {
    return look();
  } catch {
    return false;
  }
}
