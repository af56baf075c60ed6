import { limitedNamespace } from '@signalbox/crds';
import type { Registry } from '../../definitions/registry.ts';
import { boundedSeries } from '../../observability/bounded-series.ts';
import { STORED_SERIES } from '../../observability/series.ts';
import { boundCounters } from '../../store/db/bound-counters.ts';
import { countedLabels } from '../../store/db/counters.ts';
import type { Database } from '../../store/db/database.ts';

/** Whose the pipelines are that have no definition any more: nobody knows which namespace made them. */
const GONE = '';

/** The database whose roll-ups have no more series than the bound allows, beginning with those that are stored. */
export async function boundSeries(database: Database, { current }: Pick<Registry, 'current'>): Promise<Database> {
  const series = boundedSeries((pipeline) => {
    const known = current().byName.get(pipeline);
    return known ? limitedNamespace(known.standing) : GONE;
  });
  for (const { name, type } of STORED_SERIES) {
    const metric = type === 'histogram' ? `${name}_sum` : name;
    for (const labels of await countedLabels(database.db, metric)) series.know(metric, labels);
  }
  return boundCounters(database, series.bound);
}
