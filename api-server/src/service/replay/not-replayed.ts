import { type AgentStep, limitedNamespace } from '@signalbox/crds';
import type { Snapshot } from '../../definitions/snapshot.ts';
import { sendsChange } from '../../runs/replay/candidate-step.ts';
import type { Database } from '../../store/db/database.ts';
import { namespacesOf } from '../../store/tables/replicas/tenant-load.ts';

export type Check = AgentStep['deterministic_checks'][number];

/** The definition that a batch executes. */
interface Executed {
  name: string;
  /** Of its author; null where that has no limits. */
  namespace: string | null;
}

interface Deps {
  database: Pick<Database, 'db'>;
  definitions(): Pick<Snapshot, 'byName'>;
}

/**
 * Which checks a replay of these runs leaves out: those that may change something, and every request where a run is of another namespace
 * than the definition, whose author would choose where its data goes.
 */
export async function notReplayed(
  { database, definitions }: Deps,
  { name, namespace }: Executed,
  runIds: readonly string[],
): Promise<(check: Check) => boolean> {
  const loaded = definitions().byName.get(name);
  const namespaces = [
    ...(await namespacesOf(database.db, runIds)),
    ...(loaded ? [limitedNamespace(loaded.standing)] : []),
  ];
  const isForeign = namespaces.some((one) => one !== namespace);
  return (check) => sendsChange(check) || (isForeign && check.type === 'webhook');
}
