/** A real etcd and kube-apiserver from KUBEBUILDER_ASSETS on loopback, empty, with RBAC on; no kubelet, no controllers. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, scratchDirectory } from '../support/scratch.ts';
import { ROOT } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { controlPlaneAssets } from './assets.ts';
import { kubeconfigOf } from './kubeconfig.ts';

export interface ControlPlane {
  /** `https://127.0.0.1:PORT` */
  readonly server: string;
  /** Of a member of `system:masters`. */
  readonly kubeconfig: string;
  /** File with the certificate that the server's is signed by. */
  readonly caFile: string;
  readonly scratch: string;
  /** Runs kubectl as an administrator; answers stdout, rejects with stderr in the message. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** The API server ends and starts again on the same port; etcd keeps running. */
  stopApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  /** Forgets the history up to now, so that a watch from an earlier version is answered with 410. */
  compact(): Promise<void>;
  stop(): Promise<void>;
}

const READY_MS = 180_000;
const ATTEMPTS = 3;
const run = promisify(execFile);

export async function startControlPlane(): Promise<ControlPlane> {
  const assets = controlPlaneAssets();
  if (assets === null) throw new Error('no kube-apiserver, etcd and kubectl in KUBEBUILDER_ASSETS');
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(assets);
    } catch (error) {
      // Neither takes port 0, and another program may have taken one of theirs meanwhile.
      if (attempt === ATTEMPTS || !String(error).includes('address already in use')) throw error;
    }
  }
}

async function startOnce(assets: string): Promise<ControlPlane> {
  const scratch = scratchDirectory('control-plane-');
  const inScratch = (name: string) => join(scratch.path, name);
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const server = `https://127.0.0.1:${port}`;
  const [kubeconfig, caFile] = [inScratch('kubeconfig.json'), inScratch('certs/apiserver.crt')];
  const adminToken = writeSecrets(inScratch);
  writeFileSync(kubeconfig, kubeconfigOf({ server, token: adminToken, caFile }), { mode: 0o600 });

  const start = (name: string, args: readonly string[]) => launch(join(assets, name), args, inScratch(`${name}.log`));
  const etcd = start('etcd', etcdArguments({ etcdUrl, peerPort, directory: inScratch('etcd') }));
  let apiServer: ChildProcess | null = null;

  const kubectl = async (args: readonly string[], input = '') => {
    const running = run(join(assets, 'kubectl'), ['--kubeconfig', kubeconfig, ...args], { maxBuffer: 256 * 1024 ** 2 });
    // A kubectl that ends before it has read all input prints the reason.
    running.child.stdin?.on('error', () => undefined).end(input);
    return (await running).stdout;
  };
  const startApiServer = async () => {
    apiServer = start('kube-apiserver', apiServerArguments({ etcdUrl, port, inScratch }));
    const probe = async () =>
      (await kubectl(['get', '--raw', '/readyz'])).includes('ok') && kubectl(['get', 'namespace', 'default']);
    const over = new AbortController();
    for (const part of [etcd, apiServer]) part.once('exit', () => over.abort(new Error('a part of it ended')));
    const { signal } = over;
    await waitFor(probe, { what: 'the API server to be ready', timeoutMs: READY_MS, everyMs: 100, signal });
  };
  const stopApiServer = async () => {
    if (apiServer) await end(apiServer);
    apiServer = null;
  };
  const stop = async () => {
    await stopApiServer();
    await end(etcd);
    scratch.remove();
  };
  try {
    await startApiServer();
  } catch (error) {
    const logs = ['etcd', 'kube-apiserver'].map((name) => readFileSync(inScratch(`${name}.log`), 'utf8').slice(-2000));
    await stop();
    throw new Error(`the control plane did not start:\n${logs.join('\n')}`, { cause: error });
  }
  return {
    server,
    kubeconfig,
    caFile,
    scratch: scratch.path,
    kubectl,
    startApiServer,
    stopApiServer,
    stop,
    compact: () => compact(etcdUrl),
  };
}

/** Applies `config/crd` as its users do, and waits until the kinds are served. */
export async function applyKinds({ kubectl }: Pick<ControlPlane, 'kubectl'>): Promise<void> {
  await kubectl(['apply', '--server-side', '-k', join(ROOT, 'config/crd')]);
  // Asked again: in the first moment a definition has no conditions at all, which kubectl takes for an error.
  const served = async () => {
    await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
    return kubectl(['get', 'pipelines,librarysteps,agents', '-A', '-o', 'name']).then(() => true);
  };
  await waitFor(served, { what: 'the kinds to be served', timeoutMs: READY_MS, everyMs: 100 });
}

/** Writes the account key and one administrator; answers that one's token. */
function writeSecrets(inScratch: (name: string) => string): string {
  const token = randomBytes(16).toString('hex');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(inScratch('sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  writeFileSync(inScratch('tokens.csv'), `${token},admin,admin,"system:masters"\n`, { mode: 0o600 });
  return token;
}

const etcdArguments = ({ etcdUrl, peerPort, directory }: { etcdUrl: string; peerPort: number; directory: string }) => [
  `--data-dir=${directory}`,
  `--listen-client-urls=${etcdUrl}`,
  `--advertise-client-urls=${etcdUrl}`,
  `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
  '--log-level=error',
  '--unsafe-no-fsync',
];

interface ApiServerPlace {
  etcdUrl: string;
  port: number;
  inScratch(name: string): string;
}

const apiServerArguments = ({ etcdUrl, port, inScratch }: ApiServerPlace) => [
  `--etcd-servers=${etcdUrl}`,
  '--bind-address=127.0.0.1',
  `--secure-port=${port}`,
  `--cert-dir=${inScratch('certs')}`,
  `--token-auth-file=${inScratch('tokens.csv')}`,
  `--service-account-key-file=${inScratch('sa.key')}`,
  `--service-account-signing-key-file=${inScratch('sa.key')}`,
  '--service-account-issuer=https://kubernetes.default.svc',
  '--service-cluster-ip-range=10.0.0.0/24',
  '--authorization-mode=RBAC',
  '--disable-admission-plugins=ServiceAccount',
];

function launch(command: string, args: readonly string[], logFile: string): ChildProcess {
  const log = openSync(logFile, 'a');
  const child = spawn(command, args, { stdio: ['ignore', log, log] });
  closeSync(log);
  child.once('error', () => undefined);
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  child.once('exit', () => process.removeListener('exit', killWithUs));
  return child;
}

/** The API server drains for long on SIGTERM and holds nothing that etcd does not. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** etcd's own HTTP gateway: the newest revision, and everything before it forgotten. */
async function compact(etcdUrl: string): Promise<void> {
  const ask = async (path: string, body: object) => {
    const response = await fetch(`${etcdUrl}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    return (await response.json()) as { header?: { revision: string } };
  };
  const { header } = await ask('range', { key: 'AA==' });
  await ask('compaction', { revision: header?.revision, physical: true });
}
