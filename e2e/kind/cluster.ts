/** A kind cluster with a separate kubeconfig, so that the current context of the user does not change. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Scratch, scratchDirectory } from '../support/scratch.ts';
import { run } from './run.ts';

export interface Forward {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  close(): void;
}

export interface Cluster {
  readonly kubeconfig: string;
  readonly scratch: string;
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** `kubectl … -o json`, parsed. */
  read<T>(...args: string[]): Promise<T>;
  /** Server-side apply of objects. */
  apply(namespace: string, ...objects: object[]): Promise<void>;
  helm(...args: string[]): Promise<string>;
  load(...images: string[]): Promise<void>;
  forward(namespace: string, target: string, port: number): Promise<Forward>;
  remove(): Promise<void>;
}

const NAME = 'signalbox-e2e';
const START_MS = 30_000;

export async function createCluster(): Promise<Cluster> {
  const scratch = scratchDirectory('signalbox-e2e-');
  const cluster = clusterAt(scratch);
  const image = process.env.KIND_NODE_IMAGE;
  const create = ['create', 'cluster', '--name', NAME, '--wait', '180s', ...(image ? ['--image', image] : [])];
  await run('kind', ['delete', 'cluster', '--name', NAME]);
  await run('kind', create, { env: { KUBECONFIG: cluster.kubeconfig } });
  return cluster;
}

function clusterAt(scratch: Scratch): Cluster {
  const kubeconfig = join(scratch.path, 'kubeconfig');
  const env = { KUBECONFIG: kubeconfig };
  const kubectl = (args: readonly string[], input?: string) => run('kubectl', args, { env, input });
  return {
    kubeconfig,
    scratch: scratch.path,
    kubectl,
    read: async (...args) => JSON.parse(await kubectl([...args, '-o', 'json'])),
    apply: async (namespace, ...objects) => {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      await kubectl(['apply', '--server-side', '--namespace', namespace, '-f', '-'], list);
    },
    helm: (...args) => run('helm', args, { env }),
    load: async (...images) => void (await run('kind', ['load', 'docker-image', '--name', NAME, ...images], { env })),
    forward: (namespace, target, port) => forward(kubeconfig, { namespace, target, port }),
    remove: async () => {
      await run('kind', ['delete', 'cluster', '--name', NAME], { env });
      scratch.remove();
    },
  };
}

interface Place {
  namespace: string;
  target: string;
  port: number;
}

function forward(kubeconfig: string, { namespace, target, port }: Place): Promise<Forward> {
  const args = ['--kubeconfig', kubeconfig, '--namespace', namespace, 'port-forward', target, `:${port}`];
  const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const close = () => void child.kill();
  process.once('exit', close);
  return new Promise((resolve, reject) => {
    let said = '';
    const fail = () => reject(new Error(`kubectl port-forward ${target}: ${said}`));
    const timer = setTimeout(() => (close(), fail()), START_MS);
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
    child.once('close', fail);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const bound = /127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      if (bound === undefined) return;
      clearTimeout(timer);
      resolve({ url: `http://127.0.0.1:${bound}`, port: Number(bound), close });
    });
  });
}
