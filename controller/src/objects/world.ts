import type { DefinitionKind } from '@signalbox/crds';
import type { CustomObject } from './custom-object.ts';
import { createScopeStore, type ScopeStore } from './scope-store.ts';
import { type RoomOptions, withinRoom } from './spec-room.ts';

export interface ScopeKey {
  kind: DefinitionKind;
  namespace: string | null;
}

/** All known objects of the kinds that a role watches: a store for each kind and namespace. */
export interface World {
  readonly scopes: readonly (ScopeKey & { store: ScopeStore })[];
  /** Null until every scope was listed once; one namespace that may not be listed does not hold up the others. */
  objects(): CustomObject[] | null;
  /** Whether an object that is absent was really deleted. */
  isGone(object: Pick<CustomObject, 'kind' | 'namespace' | 'uid'>): boolean;
  storeOf(object: Pick<CustomObject, 'kind' | 'namespace'>): ScopeStore | undefined;
}

export interface WorldOptions extends Pick<RoomOptions, 'home' | 'times'> {
  kinds: readonly DefinitionKind[];
  /** Empty watches all namespaces. */
  namespaces: readonly string[];
  now(): number;
}

export function createWorld({ kinds, namespaces, home, times, now }: WorldOptions): World {
  const wanted = namespaces.length === 0 ? [null] : namespaces;
  const makeScope = (scope: ScopeKey) => {
    const fit: ScopeStore['fit'] = (objects) => withinRoom(objects, { home, times, elsewhere: elsewhere(scope) });
    return { ...scope, store: createScopeStore(now, fit) };
  };
  const scopes = kinds.flatMap((kind) => wanted.map((namespace) => makeScope({ kind, namespace })));
  const elsewhere = ({ kind, namespace }: ScopeKey) =>
    new Map(
      scopes
        .filter((one) => one.kind === kind && one.namespace !== namespace)
        .flatMap(({ store }) => [...store.sizes()]),
    );
  const storeOf: World['storeOf'] = ({ kind, namespace }) =>
    scopes.find((one) => one.kind === kind && (one.namespace ?? namespace) === namespace)?.store;
  const isKnown = ({ kind, store }: (typeof scopes)[number]): boolean =>
    store.synced() || (store.isForbidden() && scopes.some((one) => one.kind === kind && one.store.synced()));
  return {
    scopes,
    storeOf,
    objects: () => (scopes.every(isKnown) ? scopes.flatMap(({ store }) => store.objects()) : null),
    // Nothing is deleted for a kind or a namespace that is no longer watched.
    isGone: (object) => storeOf(object)?.isGone(object.uid) ?? false,
  };
}
