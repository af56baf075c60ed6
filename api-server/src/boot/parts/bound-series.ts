import { limitedNamespace } from '@signalbox/crds';
import type { NameHolders } from '../../definitions/name-holders.ts';
import type { Registry } from '../../definitions/registry.ts';
import { boundedSeries } from '../../observability/bounded-series.ts';
import { STORED_SERIES } from '../../observability/series.ts';
import { boundCounters } from '../../store/db/bound-counters.ts';
import { countedLabels } from '../../store/db/counters.ts';
import type { Database } from '../../store/db/database.ts';

/** As `NameHolders` says it. */
const OPERATOR = '';
/** Whose the pipelines are of which nobody knows which namespace made them; no namespace has such a name. */
const UNKNOWN = '?';

interface StoredNames {
  metric: string;
  labels: readonly string[];
}

/**
 * The database whose roll-ups have no more series than the bound allows, beginning with those that are stored. `names` says whose a
 * pipeline was that has no definition any more.
 */
export async function boundSeries(
  database: Database,
  { current }: Pick<Registry, 'current'>,
  names: Pick<NameHolders, 'heldBy'> | null = null,
): Promise<Database> {
  const ownerOf = (pipeline: string): string | null => {
    const known = current().byName.get(pipeline);
    if (known) return limitedNamespace(known.standing);
    const holder = names?.heldBy('Pipeline', pipeline) ?? UNKNOWN;
    return holder === OPERATOR ? null : holder;
  };
  const series = boundedSeries(ownerOf);
  for (const { metric, labels } of await storedNames(
    database,
    (pipeline) => current().byName.get(pipeline) !== undefined,
  ))
    series.know(metric, labels);
  return boundCounters(database, series.bound);
}

/** The names of pipelines that have a definition come first: those of others have the room that is left. */
async function storedNames(database: Database, isLoaded: (pipeline: string) => boolean) {
  const loaded: StoredNames[] = [];
  const others: StoredNames[] = [];
  for (const { name, type, labels: names } of STORED_SERIES) {
    const metric = type === 'histogram' ? `${name}_sum` : name;
    const at = names.indexOf('pipeline');
    for (const labels of await countedLabels(database.db, metric))
      (at < 0 || isLoaded(labels[at] ?? '') ? loaded : others).push({ metric, labels });
  }
  return [...loaded, ...others];
}
