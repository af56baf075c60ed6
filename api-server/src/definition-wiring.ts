import type { Config } from './config/config.ts';
import type { RegistryOptions } from './definitions/registry.ts';
import { isPriced } from './pricing-wiring.ts';

export const definitionFolders = (config: Config) => ({
  pipelineDir: config.pipelineConfigDir,
  stepDir: config.stepLibraryDir,
  managedDir: config.managedDir,
});

/** Where definitions are, and what of the configuration decides whether they are sound. */
export const registryOptions = (config: Config): Omit<RegistryOptions, 'now'> => ({
  ...definitionFolders(config),
  operator: {
    allow_shell_checks: config.security.allowShellChecks,
    pipeline_env: config.security.pipelineEnv,
    template_sandbox: config.security.templateSandbox,
  },
  priced: isPriced(config.pricing),
  notifications: config.notifications,
});
