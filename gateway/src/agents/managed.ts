import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ObjectReference, type SyncedObject, syncedObjects, SyncManifest } from '@signalbox/crds';

export interface Owners {
  /** Which custom resource owns an agent of the managed directory. */
  of(agent: string): ObjectReference;
  /** The namespace of the release; null where the manifest does not say it. */
  home: string | null;
}

/** Reads the owner of each agent from the sync manifest. Where that cannot be read, the namespace is empty. */
export function readOwners(managedDir: string): Owners {
  const { files = {}, namespace: home = null } = readManifest(managedDir) ?? {};
  return {
    home,
    of: (agent) => {
      const owner = files[`agents/${agent}/agent.yaml`];
      return owner
        ? { kind: owner.kind, namespace: owner.namespace, name: owner.name }
        : { kind: 'Agent', namespace: '', name: agent };
    },
  };
}

/** The state of the custom resources that agents come from; null without a controller. */
export function readManagedAgents(managedDir: string | undefined): SyncedObject[] | null {
  const manifest = managedDir === undefined ? null : readManifest(managedDir);
  return manifest && syncedObjects(manifest);
}

function readManifest(managedDir: string): SyncManifest | null {
  const path = join(managedDir, 'manifest.json');
  if (!existsSync(path)) return null;
  try {
    const parsed = SyncManifest.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    // The manifest is being replaced or damaged: agents still load, without the namespace of their owner.
    return null;
  }
}
