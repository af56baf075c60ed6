import type { DefinitionKind, HeldBy } from '@signalbox/crds';
import type { Read } from './read-all.ts';
import type { Snapshot } from './snapshot.ts';

/** Who had a name of a definition last: a namespace, or the empty text for the operator. */
export interface NameHolder {
  kind: string;
  name: string;
  namespace: string;
}

/** A name that another namespace has now than `before`. */
export interface NameChange {
  now: NameHolder;
  before: string | undefined;
}

/** Who had the names of definitions last, also of those that are gone: their history stays under the name. */
export interface NameHolders {
  heldBy: HeldBy;
  /** Remembers whose the loaded definitions are. */
  keep(read: Read, snapshot: Snapshot): Promise<void>;
}

export function createNameHolders(
  known: readonly NameHolder[],
  { store, warn }: { store: (changes: readonly NameChange[]) => Promise<void>; warn: (error: unknown) => void },
): NameHolders {
  const stored = new Map(known.map((holder) => [keyOf(holder), holder]));
  const held = new Map(stored);
  const keepChanged = async () => {
    const changes = [...held].flatMap(([key, now]): NameChange[] => {
      const before = stored.get(key)?.namespace;
      return before === now.namespace ? [] : [{ now, before }];
    });
    if (changes.length === 0) return;
    await store(changes);
    for (const { now } of changes) stored.set(keyOf(now), now);
  };
  return {
    heldBy: (kind, name) => held.get(keyOf({ kind, name }))?.namespace,
    keep: async (read, snapshot) => {
      for (const holder of holdersOf(read, snapshot)) held.set(keyOf(holder), holder);
      await keepChanged().catch(warn);
    },
  };
}

const keyOf = ({ kind, name }: Pick<NameHolder, 'kind' | 'name'>): string => `${kind} ${name}`;

/** An empty namespace is one that is not known; those of the release and of files are the operator's. */
function holdersOf(read: Read, { pipelines, steps }: Snapshot): NameHolder[] {
  const namespaces = new Map([...read.pipelines, ...read.steps].map(({ file, namespace }) => [file, namespace]));
  const of = (kind: DefinitionKind, loaded: readonly { name: string; file: string }[]) =>
    loaded
      .filter(({ file }) => namespaces.get(file) !== '')
      .map(({ name, file }): NameHolder => {
        const namespace = namespaces.get(file) ?? '';
        return { kind, name, namespace: namespace === read.home ? '' : namespace };
      });
  return [...of('Pipeline', pipelines), ...of('LibraryStep', steps)];
}
