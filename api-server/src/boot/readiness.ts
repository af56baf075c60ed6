import { join, sep } from 'node:path';
import { agentVersions } from '../executors/agents.ts';
import { createPreviews } from '../service/readiness/preview.ts';
import { readinessOf } from '../service/readiness/readiness.ts';
import { createVerdicts } from '../service/readiness/verdicts.ts';
import type { ServiceParts } from '../service/services.ts';
import type { Foundation } from './foundation.ts';
import type { ServiceOptions } from './options.ts';
import type { EvidenceOf } from '../analytics/readiness/executions.ts';
import { readEvidence } from '../store/aggregates/evidence/read-evidence.ts';

/** How long one query for evidence may take. */
const QUERY_MS = 30_000;

/** Connects readiness to its evidence, the versions of the agents and the clock. */
export function wireReadiness({ config, logs }: ServiceOptions, { database, registry, backends }: Foundation) {
  const { managedDir } = config;
  const deps = {
    database,
    readEvidence: (of: EvidenceOf) => readEvidence(() => database.reader(AbortSignal.timeout(QUERY_MS)), of),
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
    } satisfies Pick<ServiceParts, 'verdictOf' | 'evaluate' | 'preview'>,
  };
}
