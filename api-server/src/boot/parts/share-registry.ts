import type { Registry } from '../../definitions/registry.ts';
import { spreadChanges } from '../../definitions/spread-changes.ts';
import type { Logs } from '../../observability/logger.ts';
import type { Database } from '../../store/db/database.ts';
import { spreadDefinitions } from '../../store/tables/schedules.ts';

/** A registry that announces its changes to the other replicas; if that write fails, they reload with the next change. */
export const shareRegistry = (registry: Registry, database: Database, log: Logs['log']): Registry =>
  database.writeAs === undefined
    ? registry
    : spreadChanges(registry, () =>
        database
          .write(spreadDefinitions)
          .catch((error: unknown) => log.warn({ err: error }, 'the other replicas were not notified of the reload')),
      );
