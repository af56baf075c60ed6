import type { GatewayConfig } from '../config/schema.ts';
import type { Models } from '../models/models.ts';
import type { KnownNames } from './agent-record.ts';
import { unknownProvider } from './unknown-name.ts';

/** The names in the operator's configuration that an agent may refer to. */
export function knownNames(config: GatewayConfig, models: Models): KnownNames {
  const keyless = new Set(models.views.filter(({ configured }) => !configured).map(({ name }) => name));
  const providers = models.views.map(({ name }) => name);
  return {
    modelProblem: (model) => (models.route(model) ? null : unknownProvider(model, providers)),
    maxIterations: config.limits.max_iterations,
    keylessProvider: (model) => {
      const provider = models.route(model)?.provider ?? '';
      return keyless.has(provider) ? provider : null;
    },
    servers: new Map(
      Object.entries(config.mcp_servers).map(
        ([name, entry]) => [name, 'image' in entry ? 'image' : 'process'] as const,
      ),
    ),
    modeOf: (agent, managed) =>
      config.runtime.mode === 'process' ? 'process' : (agent.runtime.mode ?? (managed ? 'kubernetes' : 'process')),
  };
}
