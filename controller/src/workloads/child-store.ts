import type { ReflectedStore } from '../kube/reflector.ts';
import { isNewer } from '../objects/scope-store.ts';
import type { Child } from './child.ts';
import { CHILD_KINDS, type ChildKind } from '../objects/child-object.ts';

/** The known children of one kind, in one namespace or in all. */
export interface ChildStore extends ReflectedStore<Child> {
  /** By namespace and name. */
  get(namespace: string, name: string): Child | undefined;
  /** A complete list came. */
  synced(): boolean;
}

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

/** An empty list counts at once: a missing child is read by its name before it is created. */
function createChildStore(): ChildStore {
  let known = new Map<string, Child>();
  let synced = false;
  return {
    find: () => undefined,
    replace: (items) => {
      synced = true;
      known = new Map(items.map((item) => [keyOf(item.namespace, item.name), item]));
    },
    upsert: (item) => {
      const key = keyOf(item.namespace, item.name);
      const before = known.get(key);
      if (before?.uid === item.uid && !isNewer(item.resourceVersion, before.resourceVersion)) return false;
      known.set(key, item);
      return true;
    },
    remove: (uid) => {
      const found = [...known].find(([, item]) => item.uid === uid);
      return found ? known.delete(found[0]) : false;
    },
    get: (namespace, name) => known.get(keyOf(namespace, name)),
    synced: () => synced,
    doubtful: () => false,
  };
}

/** A store for every kind of children and namespace that is watched. */
export interface ChildStores {
  readonly scopes: readonly { kind: ChildKind; namespace: string | null; store: ChildStore }[];
  of(kind: ChildKind, namespace: string): ChildStore;
  /** Every one was listed once. */
  synced(): boolean;
}

/** Without namespaces all are watched. */
export function createChildStores(namespaces: readonly string[]): ChildStores {
  const wanted = namespaces.length === 0 ? [null] : namespaces;
  const scopes = CHILD_KINDS.flatMap((kind) =>
    wanted.map((namespace) => ({ kind, namespace, store: createChildStore() })),
  );
  const nowhere = createChildStore();
  return {
    scopes,
    of: (kind, namespace) =>
      scopes.find((one) => one.kind === kind && (one.namespace ?? namespace) === namespace)?.store ?? nowhere,
    synced: () => scopes.every(({ store }) => store.synced()),
  };
}
