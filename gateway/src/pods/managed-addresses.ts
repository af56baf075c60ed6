import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SyncManifest } from '@signalbox/crds';
import { z } from 'zod';

type Addresses = ReadonlyMap<string, { address: string; namespace: string | undefined }>;

/** The rest of a manifest grows with all objects of all tenants. */
const Addressed = SyncManifest.pick({ agents: true }).extend({
  files: z.record(z.string(), z.object({ namespace: z.string() })).catch({}),
});

/**
 * The address that the sync manifest names for an agent of a namespace; an agent whose namespace is not known, '', gets that of its name. The
 * file is looked at each time and read when it was replaced.
 */
export function createManagedAddresses(managedDir: string): (agent: string, namespace: string) => string | undefined {
  const path = join(managedDir, 'manifest.json');
  let seen = '';
  let addresses: Addresses = new Map();
  return (agent, namespace) => {
    const now = identityOf(path);
    // A read that fails throws: what was seen before stays, and the next look reads again.
    if (now !== seen) addresses = now === '' ? new Map() : addressesIn(readFileSync(path, 'utf8'));
    seen = now;
    const found = addresses.get(agent);
    return namespace === '' || found?.namespace === namespace ? found?.address : undefined;
  };
}

function identityOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.mtimeNs} ${stat.size}` : '';
}

function addressesIn(text: string): Addresses {
  try {
    const { agents, files } = Addressed.parse(JSON.parse(text));
    const namespaceOf = (agent: string) => files[`agents/${agent}/agent.yaml`]?.namespace;
    return new Map(
      Object.entries(agents).map(([agent, address]) => [agent, { address, namespace: namespaceOf(agent) }]),
    );
  } catch {
    // Damaged: it is replaced.
    return new Map();
  }
}
