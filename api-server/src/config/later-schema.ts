import { z } from 'zod';
import { block, decimal, flag, optionalBlock, text, url, whole } from './fields.ts';

/** Tracing (Orchestration 6). */
export const Observability = block({
  otel: block({
    enabled: flag().default(false).describe('Whether traces are made'),
    exporter: z.enum(['otlp', 'console']).default('otlp').describe('Where traces go'),
    endpoint: url('http:', 'https:')
      .optional()
      .describe(
        'Address of the collector, with or without `/v1/traces`; without it, the `OTEL_EXPORTER_OTLP_*` variables and their defaults apply',
      ),
    service_name: text()
      .optional()
      .describe('Name of this service in traces; without it, `OTEL_SERVICE_NAME` or `signalbox-api-server`'),
  }).describe('Tracing with OpenTelemetry'),
});

/** Prices are currency units per 1,000,000 tokens (Orchestration 2.13). */
export const Pricing = optionalBlock({
  currency: text().default('USD').describe('Label beside amounts; nothing is converted'),
  models: z
    .array(
      z.strictObject({
        match: z
          .strictObject({
            provider: text().describe('Name of the provider'),
            model: text().describe('Beginning of the model’s name'),
          })
          .describe('Models that cost this'),
        input_per_mtok: decimal(0).describe('Price of 1,000,000 input tokens'),
        output_per_mtok: decimal(0).describe('Price of 1,000,000 output tokens'),
      }),
    )
    .default([])
    .describe('Prices by model: the longest beginning of its name holds, among those of its provider'),
  team_budgets: z
    .record(z.string(), decimal(0))
    .default({})
    .describe('Budget of each team for a calendar month in UTC: shown in the metrics, stops nothing'),
  live_pricing: block({
    enabled: flag().default(false).describe('Whether the catalog is read'),
    url: url('http:', 'https:')
      .default('https://openrouter.ai/api/v1/models')
      .describe('Address of the catalog, in the form of this one'),
    allow_cross_provider: flag()
      .default(false)
      .describe('Whether the price of another provider of the same model may stand in'),
    refresh_interval_seconds: whole(60).default(3600).describe('How often the catalog is read'),
  }).describe('Prices from a public catalog for what has none in `models`'),
});

const Regression = z.strictObject({
  golden_set: text().describe('Name of the golden set'),
  cron: text().describe('When, as a cron line'),
  mode: z.literal('rerender', 'must be rerender').default('rerender').describe('What is replayed'),
  alert_on_regressed: whole(1).default(1).describe('Cases that must get worse to alert'),
  alert_on_accuracy_drop: decimal(0, 1).default(0.1).describe('Drop of accuracy that alerts'),
  notify: z
    .strictObject({
      channel: text().describe('Channel of the message'),
      template: text().optional().describe('Text of the message'),
      config: z.record(z.string(), z.unknown()).optional().describe('Settings of the channel'),
    })
    .optional()
    .describe('Who is told of an alert'),
});

/** Replay (Orchestration 2.13, 4.6). */
export const Replay = optionalBlock({
  safe_agents: z
    .array(text().regex(/^[^:]+:[^:]+$/, 'must be <executor>:<agent>'))
    .default([])
    .describe('Agents that may be asked again without harm, as `EXECUTOR:AGENT`'),
  judge: optionalBlock({
    agent: text().default('replay-judge').describe('Name of the judge'),
    executor: text().default('gateway').describe('Backend that runs it'),
    timeout_seconds: whole(1).default(120).describe('How long it may take'),
    max_output_chars: whole(1).default(4000).describe('How much of each output it sees'),
  }).describe('The agent that compares outputs'),
  regression: z.array(Regression).default([]).describe('Golden sets that are replayed by the clock'),
});
