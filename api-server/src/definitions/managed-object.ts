import { readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type ObjectReference, type SyncedObject, syncedObjects, SyncManifest } from '@signalbox/crds';

/**
 * The custom resource that a managed file was written from. Null where the manifest does not name it; the file stays
 * read-only then.
 */
export async function managedObject(managedDir: string, file: string): Promise<ObjectReference | null> {
  const manifest = await readManifest(managedDir);
  const entry = manifest?.files[relative(managedDir, file).split(sep).join('/')];
  return entry ? { kind: entry.kind, namespace: entry.namespace, name: entry.name } : null;
}

/** Who owns a file; null for a file outside the managed folder. */
export const managedBy =
  (managedDir: string | null) =>
  async (file: string): Promise<{ object: ObjectReference | null } | null> =>
    managedDir === null || !file.startsWith(join(managedDir, sep))
      ? null
      : { object: await managedObject(managedDir, file) };

/** The status of the custom resources behind the definitions; null where no controller has written one. */
export async function readSyncedObjects(managedDir: string | null): Promise<SyncedObject[] | null> {
  const manifest = managedDir === null ? null : await readManifest(managedDir);
  return manifest && syncedObjects(manifest);
}

async function readManifest(managedDir: string): Promise<SyncManifest | null> {
  try {
    const parsed = SyncManifest.safeParse(JSON.parse(await readFile(join(managedDir, 'manifest.json'), 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
