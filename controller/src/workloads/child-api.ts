import { answerOf, type KubeAnswer, type Refusal } from '../kube/answer.ts';
import { type Cluster, FIELD_MANAGER } from '../kube/cluster.ts';
import { below, type Collection } from '../kube/reflector.ts';
import { type Child, toChild } from './child.ts';
import { AGENT_LABEL, CHILD_APIS, type ChildKind, type KubeObject } from '../objects/child-object.ts';

export type ChildAnswer = { ok: true; child: Child | null } | Refusal;

/** Reads and writes of the objects of agents. */
export interface ChildApi {
  /** Null where there is none. */
  find(object: KubeObject): Promise<ChildAnswer>;
  /** Server-side apply of a new object. Refused where another writer made one of that name meanwhile and sets other values. */
  create(object: KubeObject): Promise<ChildAnswer>;
  /** Server-side apply over exactly this child; it takes our fields back from other writers. */
  apply(object: KubeObject, child: Child): Promise<ChildAnswer>;
  /** Deletes exactly this child. */
  remove(child: Child): Promise<ChildAnswer>;
}

/** The children of one kind; null is all namespaces. */
export function childCollection(
  { children }: Pick<Cluster, 'children'>,
  kind: ChildKind,
  namespace: string | null,
): Collection<Child> {
  const { apiVersion, plural } = CHILD_APIS[kind];
  return {
    path: `${apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`}${below(namespace)}/${plural}`,
    list: children[kind].list(namespace),
    labelSelector: AGENT_LABEL,
    read: (item) => toChild(kind, item),
  };
}

export function createChildApi({ children }: Pick<Cluster, 'children'>): ChildApi {
  const patch = async (object: KubeObject, uid: string | null) => {
    const { kind, metadata } = object;
    const { namespace, name } = metadata;
    const body = uid === null ? object : { ...object, metadata: { ...metadata, uid } };
    const call = children[kind].apply({ namespace, name, body, fieldManager: FIELD_MANAGER, force: uid !== null });
    return read(kind, await answerOf(call));
  };
  return {
    find: async ({ kind, metadata: { namespace, name } }) => {
      const answer = await answerOf(children[kind].read({ namespace, name }));
      return !answer.ok && answer.status === 404 ? { ok: true, child: null } : read(kind, answer);
    },
    create: (object) => patch(object, null),
    apply: (object, child) => patch(object, child.uid),
    remove: async ({ kind, namespace, name, uid }) => {
      const body = { preconditions: { uid }, propagationPolicy: 'Background' };
      const answer = await answerOf(children[kind].remove({ namespace, name, body }));
      return answer.ok || answer.status === 404 ? { ok: true, child: null } : answer;
    },
  };
}

function read(kind: ChildKind, answer: KubeAnswer): ChildAnswer {
  return answer.ok ? { ok: true, child: toChild(kind, answer.body) } : answer;
}
