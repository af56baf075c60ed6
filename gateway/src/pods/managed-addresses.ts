import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SyncManifest } from '@signalbox/crds';

type Addresses = ReadonlyMap<string, string>;

const NONE: Addresses = new Map();
/** The rest of a manifest grows with all objects of all tenants. */
const Addressed = SyncManifest.pick({ agents: true });

/** The address that the sync manifest names for an agent. The file is looked at each time and read when it was replaced. */
export function createManagedAddresses(managedDir: string): (agent: string) => string | undefined {
  const path = join(managedDir, 'manifest.json');
  let seen = '';
  let addresses = NONE;
  return (agent) => {
    const now = identityOf(path);
    if (now !== seen) addresses = readAddresses(path);
    seen = now;
    return addresses.get(agent);
  };
}

function identityOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.mtimeNs} ${stat.size}` : '';
}

function readAddresses(path: string): Addresses {
  try {
    const { data } = Addressed.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return new Map(Object.entries(data?.agents ?? {}));
  } catch {
    // Not written yet: the caller asks again.
    return NONE;
  }
}
