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
    // A read that fails throws: what was seen before stays, and the next look reads again.
    if (now !== seen) addresses = now === '' ? NONE : addressesIn(readFileSync(path, 'utf8'));
    seen = now;
    return addresses.get(agent);
  };
}

function identityOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.mtimeNs} ${stat.size}` : '';
}

function addressesIn(text: string): Addresses {
  try {
    const { data } = Addressed.safeParse(JSON.parse(text));
    return new Map(Object.entries(data?.agents ?? {}));
  } catch {
    // Damaged: it is replaced.
    return NONE;
  }
}
