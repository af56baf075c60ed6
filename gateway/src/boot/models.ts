import { setTimeout as delay } from 'node:timers/promises';
import { Cooldowns, type CooldownRule } from '../models/cooldowns.ts';
import { generate, type GenerateDeps } from '../models/generate.ts';
import { createModels } from '../models/models.ts';
import { providerEntries } from '../models/provider-entries.ts';
import { createConceal } from '../observability/conceal.ts';
import { guarded } from '../observability/guarded.ts';
import type { RunAgentDeps } from '../runs/run-agent.ts';
import { tracedGenerate } from '../runs/traced.ts';
import type { Stages, OpenedModels } from './stages.ts';

const NO_COOLDOWN: CooldownRule = { failures: Number.POSITIVE_INFINITY, seconds: 0 };

type ModelsOptions = Pick<Stages, 'config' | 'metrics' | 'log' | 'access'>;

export function openModels({ config, metrics, log, access }: ModelsOptions): OpenedModels {
  const models = createModels(providerEntries(config.providers));
  const secrets = Object.values(config.providers).flatMap(({ api_key, headers }) => [
    api_key,
    ...Object.values(headers),
  ]);
  const cooldowns = new Cooldowns({
    ruleOf: (provider) => config.providers[provider]?.cooldown ?? NO_COOLDOWN,
    now: () => performance.now(),
    onRest: (model, rule) => {
      metrics.modelRests(model);
      log.warn({ ...model, ...rule }, 'model rests after failures in a row');
    },
    onRecovered: (model) => log.info({ ...model }, 'model answers again'),
  });
  const deps: GenerateDeps = {
    route: models.route,
    open: models.open,
    sleep: (ms, signal) => delay(ms, undefined, { signal }),
    random: Math.random,
    conceal: createConceal(secrets),
    cooldowns,
    requestTimeoutMs: config.limits.request_timeout_seconds * 1000,
    // Counted after the answer is on its way.
    onRequest: (request) => void setImmediate(guarded, () => metrics.llmRequest(request), access.onBug),
  };
  const ask: RunAgentDeps['generate'] = (request, options) => generate(request, options, deps);
  return { ...models, generate: config.observability.otel.enabled ? tracedGenerate(ask) : ask };
}
