import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import type { Config } from './config.ts';
import { expandEnv, type Environment } from './expand-env.ts';
import { resolveConfig } from './resolve.ts';
import { ConfigFile } from './schema.ts';
import { startUpWarnings } from './warnings.ts';

/** `message` is one line that names the file and the key; `warnings` are lines for the start-up log. */
export type LoadedConfig = { ok: true; config: Config; warnings: string[] } | { ok: false; message: string };

/**
 * Reads the configuration file: YAML, `${ENV}`, checks, defaults (Orchestration 2.13, Design 11).
 * Relative paths in it are relative to it; without `database.url` the data lies in `./data` of the working directory.
 */
export function loadConfig(path: string, env: Environment): LoadedConfig {
  const file = resolve(path);
  const raw = readYaml(file);
  if (!raw.ok) return { ok: false, message: `${file}: ${raw.message}` };
  const parsed = ConfigFile.safeParse(expandEnv(raw.value, env));
  if (!parsed.success) return { ok: false, message: `${file}: ${describe(parsed.error.issues[0])}` };
  const resolved = resolveConfig(parsed.data, file);
  if (!resolved.ok) return { ok: false, message: `${file}: ${resolved.message}` };
  const problem = firstProblem(resolved.config);
  if (problem !== null) return { ok: false, message: `${file}: ${problem}` };
  return { ok: true, config: resolved.config, warnings: startUpWarnings(raw.value, parsed.data) };
}

type Read = { ok: true; value: unknown } | { ok: false; message: string };

function readYaml(file: string): Read {
  try {
    return { ok: true, value: parse(readFileSync(file, 'utf8'), { maxAliasCount: 100 }) ?? {} };
  } catch (error) {
    return {
      ok: false,
      message: `cannot be read: ${String(error instanceof Error ? error.message : error).split('\n')[0]}`,
    };
  }
}

interface Issue {
  code?: string;
  path: PropertyKey[];
  message: string;
  keys?: string[];
}

function describe(issue: Issue | undefined): string {
  if (!issue) return 'is not valid';
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys?.[0] : undefined;
  const path = unknown === undefined ? issue.path : [...issue.path, unknown];
  const key = path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}${text && '.'}${String(part)}`),
    '',
  );
  return `${key || 'the file'}: ${unknown === undefined ? issue.message : 'unknown key'}`;
}

/** What the schema cannot see: files, folders, and that somebody can come in. */
function firstProblem(config: Config): string | null {
  const missing = missingPath(filesOf(config), 'isFile') ?? missingPath(foldersOf(config), 'isDirectory');
  if (missing !== null) return missing;
  if (config.auth.tokens.length > 0 || config.auth.allowUnauthenticated) return null;
  return 'auth.tokens: is empty; give a token, or set auth.allow_unauthenticated to leave everything open';
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
