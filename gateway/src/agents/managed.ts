import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ObjectReference, SyncManifest } from '@signalbox/crds';

/** Which custom resource owns an agent of the managed directory. */
export type OwnerOf = (agent: string) => ObjectReference;

/** Reads who owns what from the sync manifest (Design 7). Without a readable one an owner has no namespace. */
export function readOwners(managedDir: string): OwnerOf {
  const path = join(managedDir, 'manifest.json');
  const files = existsSync(path) ? parseFiles(path) : {};
  return (agent) => {
    const owner = files[`agents/${agent}/agent.yaml`];
    return owner
      ? { kind: owner.kind, namespace: owner.namespace, name: owner.name }
      : { kind: 'Agent', namespace: '', name: agent };
  };
}

function parseFiles(path: string): SyncManifest['files'] {
  try {
    const parsed = SyncManifest.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return parsed.success ? parsed.data.files : {};
  } catch {
    // The manifest is being replaced or damaged: the agents still load, only their owner is not known.
    return {};
  }
}
