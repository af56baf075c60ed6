import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type Environment, namesIn, readSettings } from '@signalbox/crds/process/settings';
import { GatewayConfig, ProviderConfig } from './schema.ts';
import { isStdio } from './tool-server-schema.ts';

export type LoadedConfig = { ok: true; config: GatewayConfig } | { ok: false; message: string };
const NEEDS_ADDRESS = new Set(['openai_compatible', 'azure']);

/**
 * Reads a configuration file: YAML, `${ENV}`, defaults, absolute paths. The files and folders that it names are there.
 * A failure is one line that names the file and the key.
 */
export function loadConfig(path: string, env: Environment): LoadedConfig {
  const read = readFile(path);
  if (!read.ok) return read;
  const file = resolve(path);
  const parsed = parseConfig(read.text, dirname(file), env);
  return parsed.ok ? parsed : { ok: false, message: `${file}: ${parsed.message}` };
}

/** The same for a text, without the name of a file; relative paths are resolved against `baseDir`. */
export const parseConfig = (text: string, baseDir: string, env: Environment): LoadedConfig =>
  withFiles(readText(text, baseDir, env));

/** Reads a file with the environment of this process, without its name in failures, whatever is there of what it names. */
export function readConfig(path: string): LoadedConfig {
  const read = readFile(path);
  return read.ok ? readText(read.text, dirname(resolve(path)), process.env) : read;
}

function readFile(path: string): { ok: true; text: string } | { ok: false; message: string } {
  try {
    return { ok: true, text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { ok: false, message: `--config: cannot read ${path}: ${reasonOf(error)}` };
  }
}

function readText(text: string, baseDir: string, env: Environment): LoadedConfig {
  const read = readSettings(text, GatewayConfig, env);
  if (!read.ok) return read;
  const forbidden = imageEnvironmentReferences(read.raw)[0];
  if (forbidden)
    return {
      ok: false,
      message: `${forbidden}: \${ENV} is not possible for an image server; use {secret: {name, key}}`,
    };
  const config = withDefaults(withAbsolutePaths(read.settings, baseDir));
  return firstProblem(config, [...providerProblems(config), ...timeoutProblems(config), ...oauthProblems(config)]);
}

function withFiles(loaded: LoadedConfig): LoadedConfig {
  if (!loaded.ok) return loaded;
  const { config } = loaded;
  return firstProblem(config, [...directoryProblems(config), ...caProblems(config), ...tlsProblems(config)]);
}

const firstProblem = (config: GatewayConfig, [message]: string[]): LoadedConfig =>
  message === undefined ? { ok: true, config } : { ok: false, message };

/** The references to variables in image servers. A secret of such a server belongs into the agent's namespace. */
function imageEnvironmentReferences(raw: unknown): string[] {
  const servers = entriesOf(entriesOf(raw).find(([key]) => key === 'mcp_servers')?.[1]);
  return servers.flatMap(([name, entry]) =>
    entriesOf(entry).some(([key]) => key === 'image') ? referencesIn(entry, `mcp_servers.${name}`) : [],
  );
}

function referencesIn(value: unknown, place: string): string[] {
  if (namesIn(value).length > 0) return [place];
  return entriesOf(value).flatMap(([key, inner]) => referencesIn(inner, `${place}.${key}`));
}

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

/** Without any provider the scripted one is used; a single provider is the default one. */
function withDefaults(config: GatewayConfig): GatewayConfig {
  const names = Object.keys(config.providers);
  if (names.length === 0)
    return { ...config, providers: { demo: ProviderConfig.parse({ type: 'demo', default: true }) } };
  const only = names.length === 1 ? config.providers[names[0] as string] : undefined;
  if (!only || only.default) return config;
  return { ...config, providers: { [names[0] as string]: { ...only, default: true } } };
}

function withAbsolutePaths(config: GatewayConfig, baseDir: string): GatewayConfig {
  const at = (path: string) => resolve(baseDir, path);
  const servers = Object.entries(config.mcp_servers).map(([name, entry]) => {
    if ('url' in entry && entry.ca !== undefined) return [name, { ...entry, ca: at(entry.ca) }] as const;
    if (!isStdio(entry)) return [name, entry] as const;
    const command = entry.command.startsWith('.') ? at(entry.command) : entry.command;
    return [name, { ...entry, command, cwd: at(entry.cwd ?? '.') }] as const;
  });
  const { tls } = config.server;
  return {
    ...config,
    server: tls ? { ...config.server, tls: mapPaths(tls, at) } : config.server,
    identity_dir: at(config.identity_dir),
    isolation_hide: config.isolation_hide.map(at),
    agents_dir: at(config.agents_dir),
    managed_dir: config.managed_dir === undefined ? undefined : at(config.managed_dir),
    mcp_servers: Object.fromEntries(servers),
  };
}

function providerProblems({ providers }: GatewayConfig): string[] {
  const entries = Object.entries(providers);
  const [, ...moreDefaults] = entries.filter(([, provider]) => provider.default);
  return [
    ...moreDefaults.map(([name]) => `providers.${name}.default: only one provider can be the default`),
    ...entries
      .filter(([, { type, base_url }]) => NEEDS_ADDRESS.has(type) && !base_url)
      .map(([name, { type }]) => `providers.${name}.base_url: required for ${type}`),
  ];
}

function directoryProblems({ mcp_servers, managed_dir, isolation_hide }: GatewayConfig): string[] {
  const working = Object.entries(mcp_servers).flatMap(([name, entry]): [string, string][] =>
    isStdio(entry) && entry.cwd ? [[`mcp_servers.${name}.cwd`, entry.cwd]] : [],
  );
  const managed: [string, string][] = managed_dir === undefined ? [] : [['managed_dir', managed_dir]];
  const missing = [...working, ...managed].filter(([, path]) => !isDirectory(path));
  const isHidden = (path: string) => isolation_hide.some((hidden) => `${path}/`.startsWith(`${hidden}/`));
  return [
    ...missing.map(([key, path]) => `${key}: no such directory: ${path}`),
    ...working.filter(([, path]) => isHidden(path)).map(([key, path]) => `${key}: isolation_hide empties ${path}`),
  ];
}

function timeoutProblems({ mcp_servers, limits }: GatewayConfig): string[] {
  return Object.entries(mcp_servers).flatMap(([name, { timeout_seconds, max_timeout_seconds: longest }]) => {
    const timeout = timeout_seconds ?? limits.tool_timeout_seconds;
    const tooShort = longest !== undefined && longest < timeout;
    return tooShort ? [`mcp_servers.${name}.max_timeout_seconds: must be at least the timeout, ${timeout}`] : [];
  });
}

const remotes = ({ mcp_servers }: GatewayConfig) =>
  Object.entries(mcp_servers).flatMap(([name, entry]) =>
    'url' in entry ? [{ key: `mcp_servers.${name}`, entry }] : [],
  );

function oauthProblems(config: GatewayConfig): string[] {
  const isTwice = ({ oauth, headers }: { oauth?: unknown; headers: object }) =>
    oauth !== undefined && Object.keys(headers).some((header) => header.toLowerCase() === 'authorization');
  return remotes(config)
    .filter(({ entry }) => isTwice(entry))
    .map(({ key }) => `${key}.headers.authorization: is what oauth provides`);
}

function caProblems(config: GatewayConfig): string[] {
  return remotes(config).flatMap(({ key, entry: { ca } }) =>
    ca === undefined || isReadable(ca) ? [] : [`${key}.ca: cannot read ${ca}`],
  );
}

const mapPaths = <Files extends Record<string, string | undefined>>(files: Files, at: (path: string) => string) =>
  Object.fromEntries(Object.entries(files).map(([key, path]) => [key, path && at(path)])) as Files;

function tlsProblems({ server: { tls } }: GatewayConfig): string[] {
  if (!tls) return [];
  const unreadable = Object.entries(tls).filter(([, path]) => path !== undefined && !isReadable(path));
  if (unreadable.length > 0) return unreadable.map(([key, path]) => `server.tls.${key}: cannot read ${path}`);
  const { cert, key, client_ca } = tls;
  try {
    createSecureContext({
      cert: readFileSync(cert),
      key: readFileSync(key),
      ca: client_ca === undefined ? undefined : readFileSync(client_ca),
    });
    return [];
  } catch (error) {
    return [`server.tls: ${cert} and ${key} are not a certificate and its key in PEM: ${reasonOf(error)}`];
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? 'failed') : String(error);
}
