import { bytesOf, type Kind, openDatabases } from '../faults/databases.ts';

/** What an attack on stored data meets. */
export interface AttackedDatabase {
  /** For `database.url`. */
  readonly url: string;
  /** What it holds on the disk. */
  bytes(): Promise<number>;
  remove(): Promise<void>;
}

/** An empty one; the embedded one is a file in `folder`. */
export async function attackedDatabase(kind: Kind, folder: string): Promise<AttackedDatabase> {
  const databases = await openDatabases(kind);
  const location = await databases.fresh(folder);
  return {
    url: 'url' in location ? location.url : `sqlite://${location.file}`,
    bytes: () => bytesOf(location),
    remove: async () => databases[Symbol.asyncDispose](),
  };
}
