import { z } from 'zod';
import { HealthView, ProviderViewSchema } from '../schemas.ts';
import { type Route, route } from '../route.ts';

export interface ServiceRoutesDeps {
  health: () => z.infer<typeof HealthView>;
  metrics: () => Promise<{ text: string; contentType: string }>;
  providers: () => z.infer<typeof ProviderViewSchema>[];
  /** PEM; null where no agent has a pod of its own. */
  runnerKey: () => string | null;
}

/** Health, metrics, providers and the key that pods of agents check the gateway by (Gateway 2, 4, Design 6). */
export function serviceRoutes(deps: ServiceRoutesDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/health',
      scope: 'open',
      summary: 'Whether every tool server runs',
      response: HealthView,
      handle: () => ({ json: deps.health() }),
    }),
    route({
      method: 'GET',
      path: '/metrics',
      scope: 'metrics',
      summary: 'Prometheus series',
      handle: () => deps.metrics(),
    }),
    route({
      method: 'GET',
      path: '/providers',
      scope: 'invoke',
      summary: 'Model providers, without their keys',
      response: z.object({ providers: z.array(ProviderViewSchema) }),
      handle: () => ({ json: { providers: deps.providers() } }),
    }),
    route({
      method: 'GET',
      path: '/runner-key',
      scope: 'invoke',
      summary: 'The public key that agent runners are given, null without runners',
      response: z.object({ public_key: z.string().nullable() }),
      handle: () => ({ json: { public_key: deps.runnerKey() } }),
    }),
  ];
}
