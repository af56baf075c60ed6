import { NAME_PATTERN } from '@signalbox/crds';
import { z } from 'zod';
import { AlertRoute } from './notifications-schema.ts';
import { block, cron, decimal, flag, optionalBlock, text, url, whole } from './fields.ts';

/** Tracing (Orchestration 6). */
export const Observability = block({
  otel: block({
    enabled: flag().default(false).describe('Whether spans are recorded and exported'),
    exporter: z
      .enum(['otlp', 'console'])
      .default('otlp')
      .describe('Exporter: `otlp` sends spans to a collector, `console` writes them to stdout'),
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
  currency: text().default('USD').describe('Currency of all prices; used as a label, no conversion'),
  models: z
    .array(
      z.strictObject({
        match: z
          .strictObject({
            provider: text().describe('Name of the provider'),
            model: text().describe('Prefix of the model name'),
          })
          .describe('Models that these prices apply to'),
        input_per_mtok: decimal(0).describe('Price of 1,000,000 input tokens'),
        output_per_mtok: decimal(0).describe('Price of 1,000,000 output tokens'),
        cached_input_per_mtok: decimal(0)
          .optional()
          .describe(
            'Price of 1,000,000 input tokens that the provider had cached; `input_per_mtok` where it is not set',
          ),
      }),
    )
    .default([])
    .describe('Prices by model; among the entries of a provider, the longest matching prefix wins'),
  team_budgets: z
    .record(
      z.string(),
      decimal(0).refine((budget) => budget > 0, 'must be more than 0; leave a team out that has no budget'),
    )
    .default({})
    .describe('Budget of each team for a calendar month in UTC; reported in the metrics, not enforced'),
  live_pricing: block({
    enabled: flag().default(false).describe('Whether prices are read from the catalog'),
    url: url('http:', 'https:')
      .default('https://openrouter.ai/api/v1/models')
      .describe('Address of the catalog; it must answer in the format of the default one'),
    allow_cross_provider: flag()
      .default(false)
      .describe('Whether the price of the same model at another provider is used when the provider has none'),
    refresh_interval_seconds: whole(60).default(3600).describe('How often the catalog is read'),
  }).describe('Prices from a public catalog, for models without an entry in `models`'),
});

const Regression = z.strictObject({
  golden_set: text().regex(NAME_PATTERN, 'is no name of a golden set').describe('Name of the golden set'),
  cron: cron().describe('When the set is replayed: a cron expression with five fields, in UTC'),
  mode: z
    .literal('rerender', 'must be rerender')
    .default('rerender')
    .describe('The prompt of every member is rendered from the loaded definition'),
  alert_on_regressed: whole(1).default(1).describe('Regressed members from which on an alert is sent'),
  alert_on_accuracy_drop: decimal(0, 1)
    .default(0.1)
    .describe('Loss of accuracy from which on an alert is sent, as a share'),
  notify: AlertRoute.optional().describe('Channel that receives the alert; without it, the log'),
});

/** One entry a set, because a set has one history. */
const Regressions = z.array(Regression).superRefine((entries, context) => {
  for (const [index, { golden_set: name }] of entries.entries())
    if (entries.findIndex((entry) => entry.golden_set === name) < index)
      context.addIssue({ code: 'custom', path: [index, 'golden_set'], message: 'has an entry already' });
});

/** Replay (Orchestration 2.13, 4.6). */
export const Replay = optionalBlock({
  safe_agents: z
    .array(text().regex(/^[^:]+:[^:]+$/, 'must be <executor>:<agent>'))
    .default([])
    .describe(
      'Agents that change nothing and may be called again, as `EXECUTOR:AGENT`; without an entry nothing is replayed',
    ),
  judge: optionalBlock({
    agent: text().default('replay-judge').describe('Name of the judge agent'),
    executor: z.enum(['gateway', 'external']).default('gateway').describe('Backend that runs the judge'),
    timeout_seconds: whole(1).default(120).describe('Seconds for one verdict, with its repair'),
    max_output_chars: whole(1)
      .default(4000)
      .describe('Characters of each answer that the judge reads; longer ones are cut'),
  }).describe('The agent that compares the answers of a candidate with recorded ones; without the block none does'),
  max_batches: whole(1, 100)
    .default(4)
    .describe(
      'Replays that people start which may wait or run at the same time, on all replicas together; over it a launch answers 429. Scheduled ones are not counted',
    ),
  regression: Regressions.default([]).describe('Golden sets that are replayed on a schedule'),
});
