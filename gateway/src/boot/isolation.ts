import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isStdio, type StdioServer } from '../config/tool-server-schema.ts';
import { type Account, findAccount, mayOpen, maySwitchUser } from '../tools/account.ts';
import type { ProcessSpec } from '../tools/process-group.ts';
import { findProgram, type Sandbox, sandboxed, sandboxProblem } from '../tools/sandbox.ts';
import type { OpenedIsolation, ServerIsolation, GatewayOptions } from './stages.ts';

type IsolationOptions = Pick<GatewayOptions, 'config' | 'configPath' | 'baseEnvironment' | 'environmentShown' | 'log'>;

type Result = ({ ok: true } & OpenedIsolation) | { ok: false; message: string };
type Decision = { ok: true; isolation: ServerIsolation; warnings: string[] } | { ok: false; message: string };

/** Decides it for every server: a user of its own where it has one, else namespaces of its own where they are possible. */
export async function openIsolation(options: IsolationOptions): Promise<Result> {
  const { config, environmentShown, log } = options;
  const servers = Object.entries(config.mcp_servers).flatMap(([name, entry]): [string, StdioServer][] =>
    isStdio(entry) ? [[name, entry]] : [],
  );
  const namespaces = await probe(servers, options);
  const isolations = new Map<string, ServerIsolation>();
  const warnings = environmentShown === null ? [] : [`/proc shows the environment of the gateway: ${environmentShown}`];
  for (const [name, entry] of servers) {
    const decided =
      entry.user === undefined ? inNamespaces(name, entry, namespaces) : asUser(name, entry.user, options);
    if (!decided.ok) return decided;
    isolations.set(name, decided.isolation);
    warnings.push(...decided.warnings);
  }
  for (const warning of warnings) log.warn({ warning }, 'isolation of tool servers');
  return { ok: true, of: (server) => isolations.get(server) ?? OPEN, warnings };
}

const OPEN: ServerIsolation = { kind: 'none', isolate: (spec) => spec };

type Namespaces = { possible: true; sandbox: Omit<Sandbox, 'hostProcesses'> } | { possible: false; reason: string };

/** Asked once, and only where a server could use them. */
async function probe(servers: readonly [string, StdioServer][], options: IsolationOptions): Promise<Namespaces> {
  if (!servers.some(([, { user, isolation }]) => user === undefined && isolation !== 'off'))
    return { possible: false, reason: 'no server asks for them' };
  if (process.platform !== 'linux') return { possible: false, reason: `${process.platform} has no user namespaces` };
  const path = options.baseEnvironment['PATH'];
  const [unshare, mount] = [findProgram('unshare', path), findProgram('mount', path)];
  if (unshare === null || mount === null) return { possible: false, reason: 'unshare and mount are not installed' };
  const hidden = secretFiles(options);
  const readOnly = [options.config.agents_dir];
  const pinned = renameable([...hidden, ...readOnly]);
  const sandbox = { unshare, mount, hidden, pinned, readOnly };
  const reason = await sandboxProblem({ ...sandbox, hostProcesses: false });
  return reason === null ? { possible: true, sandbox } : { possible: false, reason };
}

function inNamespaces(name: string, { isolation, host_processes }: StdioServer, namespaces: Namespaces): Decision {
  const key = `mcp_servers.${name}`;
  if (isolation !== 'off' && namespaces.possible) {
    const sandbox = { ...namespaces.sandbox, hostProcesses: host_processes };
    const isolate = (spec: ProcessSpec) => sandboxed(spec, sandbox);
    return { ok: true, isolation: { kind: 'namespace', isolate }, warnings: [] };
  }
  const reason = isolation === 'off' || namespaces.possible ? 'its isolation is off' : namespaces.reason;
  if (isolation === 'require') return { ok: false, message: `${key}.isolation: no user namespaces: ${reason}` };
  const what = memoryIsClosed() ? 'files' : 'memory and files';
  const warning = `${key} runs as the gateway's own user and can read its ${what} (${reason}); set ${key}.user, or allow user namespaces`;
  return { ok: true, isolation: OPEN, warnings: [warning] };
}

function asUser(name: string, user: string | number, options: IsolationOptions): Decision {
  const key = `mcp_servers.${name}.user`;
  const account = findAccount(user);
  if (account === null) return { ok: false, message: `${key}: no such user: ${user}` };
  if (account.uid === process.getuid?.()) return { ok: false, message: `${key}: the gateway itself runs as ${user}` };
  if (!maySwitchUser()) return { ok: false, message: `${key}: the gateway must run as root to start it as ${user}` };
  const isolate = (spec: ProcessSpec): ProcessSpec => ({
    ...spec,
    env: { ...spec.env, HOME: account.home, USER: account.name },
    account,
  });
  return { ok: true, isolation: { kind: 'user', isolate }, warnings: openFiles(key, account, options) };
}

function openFiles(key: string, account: Account, options: IsolationOptions): string[] {
  const readable = secretFiles(options).filter((path) => mayOpen(path, account));
  return readable.map((path) => `${key}: ${account.name} can read ${path}; restrict its mode`);
}

/** What may hold a secret of the gateway, or of what runs beside it. The folder of tokens is not hidden as a whole: it may be the folder of everything. */
function secretFiles({ config, configPath }: IsolationOptions): string[] {
  const { identity_dir, isolation_hide, server } = config;
  const tokens = ['device-auth.json', 'runner-signing-key.pem'].map((file) => join(identity_dir, file));
  const own = [...(configPath === null ? [] : [configPath]), ...(server.tls ? [server.tls.key] : []), ...tokens];
  return [...own, ...isolation_hide];
}

/** The folders around these paths that this user may rename, and put others in their place; outer ones first. */
function renameable(paths: readonly string[]): string[] {
  const folders = new Set(paths.flatMap(foldersAround));
  return [...folders]
    .filter((folder) => existsSync(folder) && isWritable(dirname(folder)))
    .toSorted((a, b) => a.length - b.length);
}

function foldersAround(path: string): string[] {
  const folder = dirname(path);
  return folder === dirname(folder) ? [] : [...foldersAround(folder), folder];
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A program that its user may execute and not read keeps others of that user out of its memory; the image has such a `node`. */
function memoryIsClosed(): boolean {
  return statSync('/proc/self/environ', { throwIfNoEntry: false })?.uid === 0 && process.getuid?.() !== 0;
}
