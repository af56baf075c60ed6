import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Environment, readSettings, type Settings } from '@signalbox/crds/process/settings';
import type { z } from 'zod';
import type { Config } from './config.ts';
import { type LoadedDatabase, resolveConfig, resolveDatabase } from './resolve.ts';
import { ConfigFile, DatabasePart } from './schema.ts';
import { unwritableFolders } from './unwritable.ts';
import { startUpWarnings } from './warnings.ts';

/** `message` is one line that names the file and the key; `warnings` are lines for the start-up log. */
export type LoadedConfig = { ok: true; config: Config; warnings: string[] } | { ok: false; message: string };

/**
 * Reads the configuration file: YAML, `${ENV}`, checks, defaults (Orchestration 2.13).
 * Relative paths are resolved against the file; without `database.url` the database is `./data/signalbox.db` in the working directory.
 */
export function loadConfig(path: string, env: Environment): LoadedConfig {
  const file = resolve(path);
  const read = readFile(file, env, ConfigFile);
  if (!read.ok) return { ok: false, message: `${file}: ${read.message}` };
  const { settings } = read;
  const resolved = resolveConfig(settings, file);
  if (!resolved.ok) return { ok: false, message: `${file}: ${resolved.message}` };
  const problem = firstProblem(resolved.config);
  if (problem !== null) return { ok: false, message: `${file}: ${problem}` };
  return {
    ok: true,
    config: resolved.config,
    warnings: [...startUpWarnings(settings), ...unwritableFolders(resolved.config)],
  };
}

/** What the file says of the database, for commands that need neither the secrets nor the folders of the service. */
export function loadDatabase(path: string, env: Environment): LoadedDatabase {
  const file = resolve(path);
  const read = readFile(file, env, DatabasePart);
  if (!read.ok) return { ok: false, message: `${file}: ${read.message}` };
  const resolved = resolveDatabase(read.settings.database.url, file);
  return resolved.ok ? resolved : { ok: false, message: `${file}: ${resolved.message}` };
}

function readFile<T>(file: string, env: Environment, schema: z.ZodType<T>): Settings<T> {
  try {
    return readSettings(readFileSync(file, 'utf8'), schema, env);
  } catch (error) {
    return { ok: false, message: `cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Checks that the schema cannot make: files, folders, and that at least one token exists. */
function firstProblem(config: Config): string | null {
  const missing = missingPath(filesOf(config), 'isFile') ?? missingPath(foldersOf(config), 'isDirectory');
  if (missing !== null) return missing;
  if (config.artifacts?.dir === null && 'file' in config.database)
    return 'artifacts.dir: is missing; only a Postgres database stores artifacts without a folder';
  if (config.auth.tokens.length > 0 || config.auth.allowUnauthenticated) return null;
  return 'auth.tokens: is empty; add a token, or set auth.allow_unauthenticated to serve without authentication';
}

type KeyedPath = readonly [key: string, path: string | null | undefined];

const filesOf = ({ server, executors }: Config): KeyedPath[] => [
  ['server.tls.cert', server.tls?.cert],
  ['server.tls.key', server.tls?.key],
  ['server.tls.client_ca', server.tls?.clientCa],
  ['executors.gateway.tls.ca', executors.gateway?.ca],
  ['executors.external.tls.ca', executors.external?.ca],
];

const foldersOf = (config: Config): KeyedPath[] => [
  ['pipeline_config_dir', config.pipelineConfigDir],
  ['step_library_dir', config.stepLibraryDir],
  ['managed_dir', config.managedDir],
];

function missingPath(paths: readonly KeyedPath[], kind: 'isFile' | 'isDirectory'): string | null {
  const found = paths.find(([, path]) => path && !isKind(path, kind));
  return found ? `${found[0]}: no ${kind === 'isFile' ? 'file' : 'folder'} ${found[1]}` : null;
}

function isKind(path: string, kind: 'isFile' | 'isDirectory'): boolean {
  return statSync(path, { throwIfNoEntry: false })?.[kind]() ?? false;
}
