import { gunzipSync } from 'node:zlib';
import { waitFor } from '../support/wait-for.ts';
import type { ControlPlane } from './start-control-plane.ts';

export interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  observedGeneration: number;
  lastTransitionTime: string;
}

/** What a test reads of one of our objects. */
export interface Seen {
  metadata: { uid: string; generation: number; resourceVersion: string };
  spec: Record<string, unknown>;
  status?: Record<string, unknown> & { conditions?: Condition[]; replicas?: { pod: string; hash: string | null }[] };
}

interface Metadata {
  namespace?: string;
  annotations?: Record<string, string>;
}

/** Our objects through kubectl, as people and GitOps handle them. */
export interface Objects {
  apply(kind: string, name: string, spec: object, metadata?: Metadata): Promise<void>;
  /** Many at once. */
  applyAll(manifests: readonly string[]): Promise<void>;
  remove(kind: string, name: string, namespace?: string): Promise<void>;
  get(kind: string, name: string, namespace?: string): Promise<Seen>;
  /** Waits until a condition is `Status Reason`, such as `True Ready`, of the current generation. */
  becomes(object: string, type: string, wanted: string): Promise<Condition>;
}

const PATIENCE_MS = 120_000;

/** One of our objects as the JSON that kubectl reads. */
export function manifest(kind: string, name: string, spec: object, metadata: Metadata = {}): string {
  const about = { namespace: 'default', ...metadata, name };
  return JSON.stringify({ apiVersion: 'signalbox.dev/v1alpha1', kind, metadata: about, spec });
}

export function objectsOf({ kubectl }: Pick<ControlPlane, 'kubectl'>): Objects {
  const applyAll = async (manifests: readonly string[]) => {
    await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], manifests.join('\n---\n'));
  };
  const get = async (kind: string, name: string, namespace = 'default') =>
    JSON.parse(await kubectl(['get', kind, name, '-n', namespace, '-o', 'json'])) as Seen;
  return {
    applyAll,
    get,
    apply: (kind, name, spec, metadata) => applyAll([manifest(kind, name, spec, metadata)]),
    remove: async (kind, name, namespace = 'default') => {
      await kubectl(['delete', kind, name, '-n', namespace, '--wait=true']);
    },
    becomes: async (object, type, wanted) => {
      const [kind = '', namespace = '', name = ''] = object.includes('/')
        ? object.split(/[ /]/)
        : object.replace(' ', ' default ').split(' ');
      let said = 'nothing';
      const probe = async () => {
        const { metadata, status } = await get(kind, name, namespace);
        const found = status?.conditions?.find((one) => one.type === type);
        said = found ? `${found.status} ${found.reason} (${found.message})` : 'nothing';
        const isIt = `${found?.status} ${found?.reason}` === wanted;
        return isIt && found?.observedGeneration === metadata.generation ? found : null;
      };
      const what = `${object} to be ${type}=${wanted}`;
      return waitFor(probe, { what, timeoutMs: PATIENCE_MS, everyMs: 150 }).catch((cause: unknown) => {
        throw new Error(`${what}: said ${said}`, { cause });
      });
    },
  };
}

/** The body in `status.lastAccepted`. */
export function acceptedBody(status: Seen['status']): Record<string, unknown> | undefined {
  const { gzip } = (status?.['lastAccepted'] ?? {}) as { gzip?: string };
  if (gzip === undefined) return undefined;
  return JSON.parse(gunzipSync(Buffer.from(gzip, 'base64')).toString()) as Record<string, unknown>;
}
