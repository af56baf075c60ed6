import type { Cluster, KubeAnswer } from '../kube/cluster.ts';
import { below } from '../kube/reflector.ts';
import { FIELD_MANAGER } from '../kube/write-status.ts';
import { type Child, toChild } from './child.ts';
import { CHILD_APIS, type ChildKind, type KubeObject } from './kube-object.ts';

export type ChildAnswer = { ok: true; child: Child | null } | { ok: false; status: number; message: string };

/** Reads and writes of the objects of agents. */
export interface ChildApi {
  /** Null where there is none. */
  find(object: KubeObject): Promise<ChildAnswer>;
  /** Server-side apply of a new object. Refused where somebody made one of that name meanwhile and wants it otherwise. */
  create(object: KubeObject): Promise<ChildAnswer>;
  /** Server-side apply over exactly this child; our fields are ours, whoever wrote them last. */
  apply(object: KubeObject, child: Child): Promise<ChildAnswer>;
  /** Deletes exactly this child. */
  remove(child: Child): Promise<ChildAnswer>;
}

/** The path of a collection of children; null is all namespaces. */
export function collectionPath(kind: ChildKind, namespace: string | null): string {
  const { apiVersion, plural } = CHILD_APIS[kind];
  return `${apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`}${below(namespace)}/${plural}`;
}

const pathOf = (kind: ChildKind, namespace: string, name: string): string =>
  `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;

export function createChildApi(cluster: Pick<Cluster, 'send'>): ChildApi {
  const patch = (object: KubeObject, uid: string | null) => {
    const { kind, metadata } = object;
    const query = new URLSearchParams({ fieldManager: FIELD_MANAGER, force: String(uid !== null) });
    return cluster
      .send({
        method: 'PATCH',
        path: `${pathOf(kind, metadata.namespace, metadata.name)}?${query.toString()}`,
        contentType: 'application/apply-patch+yaml',
        body: uid === null ? object : { ...object, metadata: { ...metadata, uid } },
      })
      .then((answer) => read(kind, answer));
  };
  return {
    find: async ({ kind, metadata }) => {
      const answer = await cluster.send({ method: 'GET', path: pathOf(kind, metadata.namespace, metadata.name) });
      return !answer.ok && answer.status === 404 ? { ok: true, child: null } : read(kind, answer);
    },
    create: (object) => patch(object, null),
    apply: (object, child) => patch(object, child.uid),
    remove: async ({ kind, namespace, name, uid }) => {
      const answer = await cluster.send({
        method: 'DELETE',
        path: pathOf(kind, namespace, name),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid }, propagationPolicy: 'Background' },
      });
      return answer.ok || answer.status === 404 ? { ok: true, child: null } : answer;
    },
  };
}

function read(kind: ChildKind, answer: KubeAnswer): ChildAnswer {
  return answer.ok ? { ok: true, child: toChild(kind, answer.body) } : answer;
}
