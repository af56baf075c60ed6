import { z } from 'zod';
import { block, decimal, flag, optionalBlock, text, url, whole } from './fields.ts';

/** Tracing (Orchestration 6). */
export const Observability = block({
  otel: block({
    enabled: flag().default(false),
    exporter: z.enum(['otlp', 'console']).default('otlp'),
    endpoint: url('http:', 'https:').optional(),
    service_name: text().optional(),
  }),
});

/** Prices are currency units per 1,000,000 tokens (Orchestration 2.13). */
export const Pricing = optionalBlock({
  currency: text().default('USD'),
  models: z
    .array(
      z.strictObject({
        match: z.strictObject({ provider: text(), model: text() }),
        input_per_mtok: decimal(0),
        output_per_mtok: decimal(0),
      }),
    )
    .default([]),
  team_budgets: z.record(z.string(), decimal(0)).default({}),
  live_pricing: block({
    enabled: flag().default(false),
    allow_cross_provider: flag().default(false),
    refresh_interval_seconds: whole(60).default(3600),
  }),
});

const Regression = z.strictObject({
  golden_set: text(),
  cron: text(),
  mode: z.literal('rerender', 'must be rerender').default('rerender'),
  alert_on_regressed: whole(1).default(1),
  alert_on_accuracy_drop: decimal(0, 1).default(0.1),
  notify: z
    .strictObject({
      channel: text(),
      template: text().optional(),
      config: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});

/** Replay (Orchestration 2.13, 4.6). */
export const Replay = optionalBlock({
  safe_agents: z.array(text().regex(/^[^:]+:[^:]+$/, 'must be <executor>:<agent>')).default([]),
  judge: optionalBlock({
    agent: text().default('replay-judge'),
    executor: text().default('gateway'),
    timeout_seconds: whole(1).default(120),
    max_output_chars: whole(1).default(4000),
  }),
  regression: z.array(Regression).default([]),
});
