import { join, sep } from 'node:path';
import { plainIssues, Readiness } from '@signalbox/crds';
import type { ZodError } from 'zod';
import type { Config } from '../config/config.ts';
import type { Registry } from '../definitions/registry.ts';
import { agentVersions } from '../executors/agents.ts';
import { createPreviews } from '../service/readiness/preview.ts';
import { readinessOf } from '../service/readiness/readiness.ts';
import { createVerdicts, type Verdicts } from '../service/readiness/verdicts.ts';
import type { AgentBackend } from '../runs/state/executor.ts';
import type { DefinitionRoutesDeps } from '../web/routes/definitions.ts';
import type { ReadinessRoutesDeps } from '../web/routes/readiness.ts';
import { previewView, readinessView } from '../service/views/readiness.ts';
import type { Logs } from '../observability/logger.ts';
import type { Database } from '../store/db/database.ts';
import { readinessRows } from '../store/aggregates/readiness-rows.ts';
import type { PageDeps } from '../web/pages/page-deps.ts';

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
    routes: {
      verdictOf: verdicts.of,
      promotionReadiness: (pipeline, asked) => readinessOf(deps, pipeline, asked),
      previewReadiness: createPreviews(deps),
    },
  };
}

/** Readiness for people: the same evaluation and preview as the JSON routes give. */
export function pageReadiness(
  routes: WiredReadiness['routes'],
  registry: Pick<Registry, 'current'>,
): Pick<PageDeps, 'readiness' | 'tryReadiness' | 'verdictOf'> {
  const find = (name: string) => registry.current().byName.get(name);
  return {
    verdictOf: routes.verdictOf,
    readiness: async (name) => {
      const pipeline = find(name);
      return pipeline ? readinessView(await routes.promotionReadiness(pipeline.config, {})) : null;
    },
    tryReadiness: async ({ pipeline: name, readiness: written, applyTo: step }) => {
      const pipeline = find(name);
      if (!pipeline) return { kind: 'not_found' };
      const parsed = Readiness.safeParse(written);
      if (!parsed.success) return { kind: 'invalid', problems: problemsOf(parsed.error) };
      const applyTo = step === null ? null : [step];
      const request = { pipeline, readiness: parsed.data, written: written as object, applyTo };
      const preview = await routes.previewReadiness(request);
      if (preview.kind === 'missing')
        return { kind: 'invalid', problems: [{ field: 'apply_to', msg: `there is no step "${step}"` }] };
      return { kind: 'tried', report: previewView(preview, applyTo) };
    },
  };
}

const problemsOf = ({ issues }: ZodError) =>
  plainIssues(issues).map(({ path, msg }) => ({ field: path.map(String).join('.'), msg }));
