import { join, sep } from 'node:path';
import type { Config } from './config/config.ts';
import type { Registry } from './definitions/registry.ts';
import { agentVersions } from './executors/agents.ts';
import { createPreviews } from './readiness/preview.ts';
import { readinessOf } from './readiness/readiness.ts';
import { createVerdicts, type Verdicts } from './readiness/verdicts.ts';
import type { AgentBackend } from './runs/executor.ts';
import type { DefinitionRoutesDeps } from './http/routes/definitions.ts';
import type { ReadinessRoutesDeps } from './http/routes/readiness.ts';
import type { Logs } from './observability/logger.ts';
import type { Database } from './store/database.ts';
import { readinessRows } from './store/readiness-rows.ts';

interface ReadinessParts {
  config: Pick<Config, 'calibration' | 'managedDir'>;
  database: Pick<Database, 'db'>;
  registry: Pick<Registry, 'current'>;
  backends: readonly AgentBackend[];
  logs: Pick<Logs, 'log'>;
}

export interface WiredReadiness {
  routes: Omit<ReadinessRoutesDeps, 'definitions'> & Pick<DefinitionRoutesDeps, 'verdictOf'>;
  verdicts: Pick<Verdicts, 'start' | 'stop'>;
}

/** Gives readiness its evidence, the agents' versions and the clock. */
export function wireReadiness({ config, database, registry, backends, logs }: ReadinessParts): WiredReadiness {
  const deps = {
    readRows: (slice: Parameters<typeof readinessRows>[1]) => readinessRows(database.db, slice),
    agentVersions: () => agentVersions(backends),
    bins: config.calibration,
    now: () => Date.now(),
  };
  const { managedDir } = config;
  const verdicts = createVerdicts({
    pipelines: () => registry.current().pipelines,
    evaluate: (pipeline) => readinessOf(deps, pipeline),
    now: deps.now,
    log: logs.log,
  });
  return {
    verdicts,
    routes: {
      verdictOf: verdicts.of,
      promotionReadiness: (pipeline, asked) => readinessOf(deps, pipeline, asked),
      previewReadiness: createPreviews(deps),
      isManaged: (file) => managedDir !== null && file.startsWith(join(managedDir, sep)),
    },
  };
}
