/** A container that gets SIGTERM during its start must stop: Node as process 1 would ignore the signal. */
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { scratchDirectory } from '../support/scratch.ts';
import { ensure } from './progress.ts';
import { run } from './run.ts';

const PARTS: Record<string, string[]> = {
  'api-server': ['api-server', '--config', '/etc/signalbox/api-server.yaml'],
  gateway: ['gateway', '--config', '/etc/signalbox/gateway.yaml'],
  controller: ['controller', 'manager', '--leader-elect=false'],
  'agent-runner': ['agent-runner'],
  'machine-tools': ['machine-tools'],
};

const FILES = {
  'api-server.yaml': `server: {host: 127.0.0.1}
pipeline_config_dir: /etc/signalbox/pipelines
database: {url: "sqlite:/data/signalbox.db"}
auth: {allow_unauthenticated: true}
executors: {gateway: {url: "ws://127.0.0.1:9/rpc"}}
`,
  'gateway.yaml': '{agents_dir: /data/agents, identity_dir: /data/identity}\n',
  kubeconfig: `apiVersion: v1
kind: Config
current-context: none
contexts: [{name: none, context: {cluster: none, user: none}}]
clusters: [{name: none, cluster: {server: "https://127.0.0.1:9"}}]
users: [{name: none, user: {}}]
`,
};

const publicKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();
const ENVIRONMENT = {
  KUBECONFIG: '/etc/signalbox/kubeconfig',
  PORT: '18790',
  AGENT_NAME: 'reader',
  GATEWAY_PUBLIC_KEY: publicKey,
};
/** From the first instruction to well after the start. */
const MOMENTS_MS = [0, 100, 400];
const GRACE_MS = 5000;
const ENDED_BY_SIGTERM = 143;

const logsOf = (id: string) => run('sh', ['-c', `docker logs ${id} 2>&1`]);

/** Sends SIGTERM to a container of every part at several moments of its start. */
export async function stopWhileStarting(image: string): Promise<void> {
  using scratch = scratchDirectory('signalbox-signals-');
  chmodSync(scratch.path, 0o755);
  mkdirSync(join(scratch.path, 'pipelines'));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(scratch.path, name), text);
  const options = Object.entries(ENVIRONMENT).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  options.push('-v', `${scratch.path}:/etc/signalbox:ro`);
  for (const [part, args] of Object.entries(PARTS)) {
    for (const ms of MOMENTS_MS) {
      const id = (await run('docker', ['run', '--detach', ...options, image, ...args])).trim();
      try {
        await wait(ms);
        await run('docker', ['kill', '--signal', 'TERM', id]);
        const code = Number(await run('docker', ['wait', id], { timeoutMs: GRACE_MS }));
        const ended = code === 0 || code === ENDED_BY_SIGTERM;
        ensure(ended, `${part}, SIGTERM after ${ms} ms: exit code ${code}\n${await logsOf(id)}`);
      } finally {
        await run('docker', ['rm', '--force', id]);
      }
    }
  }
}
