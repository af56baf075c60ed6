import { join, sep } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Registry } from '../definitions/registry.ts';
import { agentVersions } from '../executors/agents.ts';
import { createPreviews } from '../service/readiness/preview.ts';
import { readinessOf } from '../service/readiness/readiness.ts';
import { createVerdicts, type Verdicts } from '../service/readiness/verdicts.ts';
import type { AgentBackend } from '../runs/state/executor.ts';
import type { Logs } from '../observability/logger.ts';
import type { ServiceParts } from '../service/services.ts';
import type { Database } from '../store/db/database.ts';
import { readinessRows } from '../store/aggregates/readiness-rows.ts';

interface ReadinessParts {
  config: Pick<Config, 'calibration' | 'managedDir'>;
  database: Pick<Database, 'db'>;
  registry: Pick<Registry, 'current'>;
  backends: readonly AgentBackend[];
  logs: Pick<Logs, 'log'>;
}

export interface WiredReadiness {
  parts: Pick<ServiceParts, 'evaluate' | 'preview' | 'verdictOf'>;
  verdicts: Pick<Verdicts, 'start' | 'stop'>;
}

/** Connects readiness to its evidence, the versions of the agents and the clock. */
export function wireReadiness({ config, database, registry, backends, logs }: ReadinessParts): WiredReadiness {
  const { managedDir } = config;
  const deps = {
    readRows: (slice: Parameters<typeof readinessRows>[1]) => readinessRows(database.db, slice),
    agentVersions: () => agentVersions(backends),
    bins: config.calibration,
    isManaged: (file: string) => managedDir !== null && file.startsWith(join(managedDir, sep)),
    now: () => Date.now(),
  };
  const verdicts = createVerdicts({
    pipelines: () => registry.current().pipelines,
    evaluate: (pipeline) => readinessOf(deps, pipeline),
    now: deps.now,
    log: logs.log,
  });
  return {
    verdicts,
    parts: {
      verdictOf: verdicts.of,
      evaluate: (pipeline, asked) => readinessOf(deps, pipeline, asked),
      preview: createPreviews(deps),
    },
  };
}
