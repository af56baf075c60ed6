import type { DefinitionKind, HeldBy } from '@signalbox/crds';
import type { Database } from '../store/db/database.ts';
import { type NameHolder, nameHolders, setNameHolder } from '../store/tables/name-holders.ts';
import type { Read } from './read-all.ts';
import type { Snapshot } from './snapshot.ts';

/** Who had the names of definitions last, also of those that are gone: their history stays under the name. */
export interface NameHolders {
  heldBy: HeldBy;
  /** Remembers whose the loaded definitions are. */
  keep(read: Read, snapshot: Snapshot): Promise<void>;
}

export async function createNameHolders(
  database: Pick<Database, 'db' | 'write'>,
  { now, warn }: { now: () => number; warn: (error: unknown) => void },
): Promise<NameHolders> {
  const stored = new Map((await nameHolders(database.db)).map((holder) => [keyOf(holder), holder]));
  const held = new Map(stored);
  const store = async (changed: readonly NameHolder[]) => {
    if (changed.length === 0) return;
    const at = now();
    await database.write(async (tx) => {
      for (const holder of changed) {
        const before = stored.get(keyOf(holder))?.namespace;
        await setNameHolder(tx, { now: holder, before, at });
      }
    });
    for (const holder of changed) stored.set(keyOf(holder), holder);
  };
  return {
    heldBy: (kind, name) => held.get(keyOf({ kind, name }))?.namespace,
    keep: async (read, snapshot) => {
      for (const holder of holdersOf(read, snapshot)) held.set(keyOf(holder), holder);
      const changed = [...held].filter(([key, { namespace }]) => stored.get(key)?.namespace !== namespace);
      await store(changed.map(([, holder]) => holder)).catch(warn);
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
