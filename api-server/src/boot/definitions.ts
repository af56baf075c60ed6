import { dirname } from 'node:path';
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
  problemsHere: (pipeline) => [
    ...notificationProblems(pipeline, config.notifications),
    ...priceProblems(pipeline, config.pricing),
    ...windowProblems(pipeline, config.dedup),
    ...unsetVariables(pipeline, env),
  ],
});

/** Logs the loaded definitions now and after each reload; returns the reload that logs. */
export function reportLoads(registry: Registry, config: Config, log: Logs['log']): Registry['reload'] {
  report(registry.current(), config, log);
  return async () => {
    const snapshot = await registry.reload();
    report(snapshot, config, log);
    log.info({ pipelines: snapshot.pipelines.length }, 'reloaded');
    return snapshot;
  };
}

function report({ shown, pipelines }: Snapshot, config: Config, log: Logs['log']): void {
  const { errors, warnings } = listedProblems(shown);
  for (const { severity, file, line, col, loc, msg } of [...errors, ...warnings]) {
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
