import { statSync } from 'node:fs';
import { isStdio, type StdioServer } from '../config/tool-server-schema.ts';
import { type Account, findAccount, mayOpen, maySwitchUser } from '../tools/account.ts';
import type { ProcessSpec } from '../tools/process-group.ts';
import { findProgram, type Sandbox, sandboxed, sandboxProblem } from '../tools/sandbox.ts';
import { coveredPaths, secretFiles } from './hidden-paths.ts';
import { openHomes, type ServerHomes } from './server-homes.ts';
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
  const probed = await probe(servers, options);
  if (!probed.ok) return probed;
  const { namespaces } = probed;
  const isolations = new Map<string, ServerIsolation>();
  const warnings = environmentShown === null ? [] : [`/proc shows the environment of the gateway: ${environmentShown}`];
  if (namespaces.possible) warnings.push(...namespaces.warnings);
  for (const [name, entry] of servers) {
    const decided =
      entry.user === undefined ? inNamespaces(name, entry, namespaces) : asUser(name, entry, entry.user, options);
    if (!decided.ok) return decided;
    isolations.set(name, decided.isolation);
    warnings.push(...decided.warnings);
  }
  for (const warning of warnings) log.warn({ warning }, 'isolation of tool servers');
  return { ok: true, of: (server) => isolations.get(server) ?? OPEN, warnings };
}

const OPEN: ServerIsolation = { kind: 'none', isolate: (spec) => spec };

type Namespaces =
  | { possible: true; sandbox: Omit<Sandbox, 'hostProcesses'>; homes: ServerHomes | null; warnings: string[] }
  | { possible: false; reason: string };
type Probed = { ok: true; namespaces: Namespaces } | { ok: false; message: string };

const impossible = (reason: string): Probed => ({ ok: true, namespaces: { possible: false, reason } });

/** Asked once, and only where a server could use them. Where only a path is in the way, a server may have made it so: no server runs open for that. */
async function probe(servers: readonly [string, StdioServer][], options: IsolationOptions): Promise<Probed> {
  const asking = servers.filter(([, { user, isolation }]) => user === undefined && isolation !== 'off');
  if (asking.length === 0) return impossible('no server asks for them');
  if (process.platform !== 'linux') return impossible(`${process.platform} has no user namespaces`);
  const path = options.baseEnvironment['PATH'];
  const [unshare, mount] = [findProgram('unshare', path), findProgram('mount', path)];
  if (unshare === null || mount === null) return impossible('unshare and mount are not installed');
  const programs = { unshare, mount, hostProcesses: false };
  const reason = await sandboxProblem({ ...programs, hidden: [], pinned: [], readOnly: [] });
  if (reason !== null) return impossible(reason);
  const opened = openHomes(
    asking.map(([name]) => name),
    options,
  );
  if (!opened.ok) return opened;
  const { homes } = opened;
  const covered = coveredPaths(options, homes === null ? [] : [homes.store]);
  if (!covered.ok) return covered;
  const { paths, warnings } = covered;
  const problem = await sandboxProblem({ ...programs, ...paths });
  if (problem !== null) return { ok: false, message: `isolation of tool servers: ${problem}` };
  return { ok: true, namespaces: { possible: true, sandbox: { ...programs, ...paths }, homes, warnings } };
}

function inNamespaces(name: string, { env, isolation, host_processes }: StdioServer, namespaces: Namespaces): Decision {
  const key = `mcp_servers.${name}`;
  if (isolation !== 'off' && namespaces.possible) {
    const home = namespaces.homes?.of(name) ?? null;
    const sandbox = { ...namespaces.sandbox, home, hostProcesses: host_processes };
    const own: Record<string, string> = home === null ? {} : { HOME: home.at, TMPDIR: home.tmp };
    const isolate = (spec: ProcessSpec) => sandboxed({ ...spec, env: { ...spec.env, ...own, ...env } }, sandbox);
    return { ok: true, isolation: { kind: 'namespace', isolate }, warnings: [] };
  }
  const reason = isolation === 'off' || namespaces.possible ? 'its isolation is off' : namespaces.reason;
  if (isolation === 'require') return { ok: false, message: `${key}.isolation: no user namespaces: ${reason}` };
  const what = memoryIsClosed() ? 'files' : 'memory and files';
  const warning = `${key} runs as the gateway's own user and can read its ${what} (${reason}); set ${key}.user, or allow user namespaces`;
  return { ok: true, isolation: OPEN, warnings: [warning] };
}

function asUser(name: string, { env }: StdioServer, user: string | number, options: IsolationOptions): Decision {
  const key = `mcp_servers.${name}.user`;
  const account = findAccount(user);
  if (account === null) return { ok: false, message: `${key}: no such user: ${user}` };
  if (account.uid === process.getuid?.()) return { ok: false, message: `${key}: the gateway itself runs as ${user}` };
  if (!maySwitchUser()) return { ok: false, message: `${key}: the gateway must run as root to start it as ${user}` };
  const isolate = (spec: ProcessSpec): ProcessSpec => ({
    ...spec,
    env: { ...spec.env, HOME: account.home, USER: account.name, ...env },
    account,
  });
  return { ok: true, isolation: { kind: 'user', isolate }, warnings: openFiles(key, account, options) };
}

function openFiles(key: string, account: Account, options: IsolationOptions): string[] {
  const readable = secretFiles(options).filter((path) => mayOpen(path, account));
  return readable.map((path) => `${key}: ${account.name} can read ${path}; restrict its mode`);
}

/** A program that its user may execute and not read keeps others of that user out of its memory; the image has such a `node`. */
function memoryIsClosed(): boolean {
  return statSync('/proc/self/environ', { throwIfNoEntry: false })?.uid === 0 && process.getuid?.() !== 0;
}
