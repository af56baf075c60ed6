import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseYaml, type PlainIssue, plainIssues } from '@signalbox/crds';
import type { z } from 'zod';
import type { Config } from './config.ts';
import { type Environment, expandEnv, unsetNames } from './expand-env.ts';
import { resolveConfig } from './resolve.ts';
import { ConfigFile } from './schema.ts';
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
  const raw = readYaml(file);
  if (!raw.ok) return { ok: false, message: `${file}: ${raw.message}` };
  const parsed = ConfigFile.safeParse(expandEnv(raw.value, env));
  if (!parsed.success)
    return { ok: false, message: `${file}: ${describe(parsed.error.issues, { raw: raw.value, env })}` };
  const resolved = resolveConfig(parsed.data, file);
  if (!resolved.ok) return { ok: false, message: `${file}: ${resolved.message}` };
  const problem = firstProblem(resolved.config);
  if (problem !== null) return { ok: false, message: `${file}: ${problem}` };
  return {
    ok: true,
    config: resolved.config,
    warnings: [...startUpWarnings(raw.value, parsed.data), ...unwritableFolders(resolved.config)],
  };
}

type Read = { ok: true; value: unknown } | { ok: false; message: string };

function readYaml(file: string): Read {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return { ok: false, message: `cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
  const yaml = parseYaml(text);
  if (yaml.ok) return { ok: true, value: yaml.value ?? {} };
  const problems = yaml.problems.map(({ line, col, msg }) => `line ${line}, column ${col}: ${msg}`);
  return { ok: false, message: problems[0] ?? 'is not valid YAML' };
}

type Issue = z.core.$ZodIssue;
/** The file as written, and the environment that its placeholders were replaced from. */
interface Written {
  raw: unknown;
  env: Environment;
}

/** More problems would make the line too long to read. */
const MAX_PROBLEMS = 5;

function describe(issues: readonly Issue[], read: Written): string {
  const problems = plainIssues(issues).map((issue) => describeOne(issue, read));
  const more = problems.length - MAX_PROBLEMS;
  return problems.slice(0, MAX_PROBLEMS).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

function describeOne({ path, msg, unknownKey }: PlainIssue, { raw, env }: Written): string {
  const unset = unknownKey ? [] : unsetNames(valueAt(raw, path), env).map((name) => `\${${name}}`);
  const because = unset.length > 0 ? `, and ${unset.join(', ')} is not set in the environment` : '';
  return `${place(path)}: ${msg}${because}`;
}

const place = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}${text && '.'}${String(part)}`),
    '',
  ) || 'the file';

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null ? (found as Record<PropertyKey, unknown>)[key] : found,
    value,
  );

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
