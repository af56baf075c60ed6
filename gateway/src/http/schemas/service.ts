import { z } from 'zod';
import { component } from './component.ts';

export const Health = component(
  'Health',
  z.object({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    agents: z.int(),
    active_runs: z.int(),
    waiting_approvals: z.int(),
    max_concurrent_runs: z.int(),
    mcp_servers: z.record(z.string(), z.object({ running: z.boolean(), restart_count: z.int() })),
    warnings: z.array(z.string()),
  }),
  {
    status: 'ok',
    version: '0.1.0',
    agents: 2,
    active_runs: 1,
    waiting_approvals: 0,
    max_concurrent_runs: 10,
    mcp_servers: { metrics: { running: true, restart_count: 0 } },
    warnings: [],
  },
);

export const MetricsText = component('Metrics', z.string(), 'gateway_active_runs 1\n');

export const ProviderList = component(
  'ProviderList',
  z.object({
    providers: z.array(z.object({ name: z.string(), configured: z.boolean(), prefix: z.string().nullable() })),
  }),
  { providers: [{ name: 'anthropic', configured: true, prefix: 'anthropic/' }] },
);

export const RunnerKey = component('RunnerKey', z.object({ public_key: z.string().nullable() }), {
  public_key: '-----BEGIN PUBLIC KEY-----\n…\n-----END PUBLIC KEY-----\n',
});

export const OpenApi = component('OpenApi', z.looseObject({ openapi: z.literal('3.1.0') }), { openapi: '3.1.0' });
