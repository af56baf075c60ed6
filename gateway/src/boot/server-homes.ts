import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { OwnHome } from '../tools/sandbox.ts';
import { isFolder, mayChange } from './hidden-paths.ts';
import type { GatewayOptions } from './stages.ts';

type Options = Pick<GatewayOptions, 'config' | 'configPath' | 'baseEnvironment'>;

export interface ServerHomes {
  /** The homes of all servers, also those of other gateways of this user. */
  store: string;
  of: (server: string) => OwnHome | null;
}

/**
 * A home for each server in namespaces, which it finds again after a restart: a program runs code that it finds in its home. All
 * see theirs at one place. Null where this user can write in no home, so that nobody plants anything there.
 */
export function openHomes(
  servers: readonly string[],
  options: Options,
): { ok: true; homes: ServerHomes | null } | { ok: false; message: string } {
  const root = rootOf(options);
  if (root === null) return { ok: true, homes: null };
  const base = join(root, `.signalbox-${process.getuid?.()}`);
  const at = join(base, 'home');
  const store = join(base, 'tools');
  const homes = new Map(servers.map((server) => [server, join(store, folderOf(server, options))]));
  for (const folder of [base, at, store, ...homes.values()]) {
    const problem = ownFolder(folder);
    if (problem !== null) return { ok: false, message: problem };
  }
  for (const home of homes.values()) make(join(home, TMP));
  const of = (server: string) => {
    const from = homes.get(server);
    return from === undefined ? null : { from, at, tmp: join(at, TMP) };
  };
  return { ok: true, homes: { store, of } };
}

const TMP = 'tmp';

function rootOf({ config, baseEnvironment: env }: Options): string | null {
  const isHidden = (path: string) => config.isolation_hide.some((hidden) => `${path}/`.startsWith(`${hidden}/`));
  const places = [env['HOME'] ?? '', env['TMPDIR'] ?? '/tmp'].filter((path) => isFolder(path) && mayChange(path));
  return places.map((path) => realpathSync(path)).find((path) => !isHidden(path)) ?? null;
}

/** Of the configuration file too: that of another gateway may have a server of that name. */
function folderOf(server: string, { config, configPath }: Options): string {
  const owner = configPath === null ? config.identity_dir : resolve(configPath);
  return `${server}-${createHash('sha256').update(owner).digest('hex').slice(0, 16)}`;
}

/** Makes it where it is missing; why it is not to be used, or null. A link there would lead elsewhere, and a folder of another user be changed by that one. */
function ownFolder(path: string): string | null {
  const problem = make(path);
  if (problem !== null) return `${path}: cannot be made: ${problem}`;
  const stat = lstatSync(path);
  return stat.isDirectory() && stat.uid === process.getuid?.() ? null : `${path}: is no folder of this user; delete it`;
}

/** Follows no link; null where there is something of that name. */
function make(path: string): string | null {
  try {
    mkdirSync(path, { mode: 0o700 });
    return null;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed';
    return code === 'EEXIST' ? null : code;
  }
}
