import type { z } from 'zod';
import type { App } from '../app.ts';
import { Health, MetricsText, ProviderList, RunnerKey } from '../schemas/service.ts';

export interface ServiceRoutesDeps {
  health: () => z.infer<typeof Health>;
  metrics: () => Promise<{ text: string; contentType: string }>;
  providers: () => z.infer<typeof ProviderList>['providers'];
  /** PEM; null where no agent has its own pod. */
  runnerKey: () => string | null;
}

/** Health, metrics, providers and the key that runners of agents verify the gateway with (Gateway 2, 4). */
export const serviceRoutes = (deps: ServiceRoutesDeps) => (app: App) => {
  app.route({
    method: 'GET',
    url: '/health',
    config: { scope: 'open' },
    schema: {
      operationId: 'getHealth',
      tags: ['service'],
      summary: 'Whether every tool server runs',
      response: { 200: Health },
    },
    handler: () => deps.health(),
  });

  app.route({
    method: 'GET',
    url: '/metrics',
    config: { scope: 'metrics' },
    schema: {
      operationId: 'getMetrics',
      tags: ['service'],
      summary: 'Prometheus series',
      produces: ['text/plain'],
      response: { 200: MetricsText },
    },
    handler: async (_, reply) => {
      const { text, contentType } = await deps.metrics();
      return reply.type(contentType).send(text);
    },
  });

  app.route({
    method: 'GET',
    url: '/providers',
    config: { scope: 'invoke' },
    schema: {
      operationId: 'listProviders',
      tags: ['models'],
      summary: 'Model providers, without their keys',
      response: { 200: ProviderList },
    },
    handler: () => ({ providers: deps.providers() }),
  });

  app.route({
    method: 'GET',
    url: '/runner-key',
    config: { scope: 'invoke' },
    schema: {
      operationId: 'getRunnerKey',
      tags: ['service'],
      summary: 'The public key for agent runners, null without runners',
      response: { 200: RunnerKey },
    },
    handler: () => ({ public_key: deps.runnerKey() }),
  });
};
