import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { listedProblems } from '../definitions/listed-problems.ts';
import type { Registry, RegistryOptions } from '../definitions/registry.ts';
import type { Snapshot } from '../definitions/snapshot.ts';
import type { Logs } from '../observability/logger.ts';
import { notificationProblems } from '../notify/check.ts';
import type { PipelineEnv } from '../runs/prompt/rendering.ts';
import { windowProblems } from './parts/dedup-window.ts';
import { priceProblems } from './parts/pricing.ts';
import { unsetVariables } from './parts/unset-variables.ts';

export const definitionFolders = (config: Config) => ({
  pipelineDir: config.pipelineConfigDir,
  stepDir: config.stepLibraryDir,
  managedDir: config.managedDir,
});

/** The definition folders, and the settings that decide whether a definition is valid. */
export const registryOptions = (config: Config, env: Pick<PipelineEnv, 'valueOf'>): Omit<RegistryOptions, 'now'> => ({
  ...definitionFolders(config),
  operator: {
    allow_shell_checks: config.security.allowShellChecks,
    pipeline_env: config.security.pipelineEnv,
    template_sandbox: config.security.templateSandbox,
    tenancy: { ...config.tenancy, home: null },
  },
  shownFrom: dirname(config.file),
  *problemsHere(pipeline) {
    yield* priceProblems(pipeline, config.pricing);
    yield* windowProblems(pipeline, config.dedup);
    yield* notificationProblems(pipeline, config.notifications);
    yield* unsetVariables(pipeline, env);
  },
});

/** Logs the loaded definitions now and after each reload; returns the reload that logs. */
export async function reportLoads(registry: Registry, config: Config, log: Logs['log']): Promise<Registry['reload']> {
  await report(registry.current(), config, log);
  return async () => {
    const snapshot = await registry.reload();
    await report(snapshot, config, log);
    log.info({ pipelines: snapshot.pipelines.length }, 'reloaded');
    return snapshot;
  };
}

/** Each line in a turn of its own: there may be thousands, and one may have to wait for who reads the log. */
async function report({ shown, pipelines }: Snapshot, config: Config, log: Logs['log']): Promise<void> {
  const { errors, warnings } = listedProblems(shown);
  for (const { severity, file, line, col, loc, msg } of [...errors, ...warnings]) {
    await setImmediate();
    const key = loc.join('.');
    log.warn({ severity, file, line, col, key }, `definition: ${key === '' ? '' : `${key}: `}${msg}`);
  }
  if (pipelines.length > 0) return;
  const { pipelineConfigDir, managedDir } = config;
  log.warn(
    { pipeline_config_dir: pipelineConfigDir, managed_dir: managedDir },
    'no pipeline is loaded: no run can start',
  );
}
