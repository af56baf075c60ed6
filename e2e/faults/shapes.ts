import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const TOKENS = {
  webhook: 'fault-webhook-0000000000000000000000',
  operator: 'fault-operator-000000000000000000000',
  gateway: 'fault-gateway-0000000000000000000000',
} as const;

/** The service's database, in the form of `database.url`. */
export interface Setting {
  directory: string;
  databaseUrl: string;
  /** Of the gateway, and of the server that webhooks call. */
  gatewayUrl: string;
  webhookUrl: string;
  /** Further blocks of the configuration. */
  more?: object;
}

const agent = (name: string, more: object = {}) => ({
  name,
  executor: 'gateway',
  agent: 'probe',
  prompt_template: `${name}: {{summary}}`,
  ...more,
});
const { name: _, ...item } = agent('item');
const notifications = { complete: [{ channel: 'log' }], approval: [{ channel: 'log' }] };

/** One pipeline of every shape and of every option that makes the engine wait or write. */
const pipelines = ({ webhookUrl }: Setting): object[] => [
  {
    name: 'plain',
    notifications,
    steps: [
      agent('look', {
        verifier: { agent: 'critic' },
        loop_until: { confidence: 0.99, max_iterations: 2 },
        deterministic_checks: [
          { name: 'shell', type: 'shell', run: 'true' },
          { name: 'url', type: 'webhook', url: webhookUrl },
        ],
      }),
      agent('conclude', { grounding: { agent: 'judge' } }),
    ],
  },
  {
    name: 'group',
    concurrency: { limit: 1 },
    steps: [
      { name: 'gather', parallel: { steps: [agent('left'), agent('right')] } },
      { name: 'each', fan_out: { over: 'metadata.items', max_parallel: 2, step: item } },
      agent('weigh'),
    ],
  },
  {
    name: 'parent',
    steps: [
      { name: 'child', executor: 'pipeline', pipeline: 'leaf' },
      { name: 'tell', executor: 'webhook', url: webhookUrl, payload: { run: '{{run_id}}' } },
    ],
  },
  { name: 'leaf', steps: [agent('only')] },
  {
    name: 'asks',
    notifications,
    steps: [{ name: 'approve', executor: 'human', prompt_template: 'Go on?', timeout_seconds: 600 }, agent('act')],
  },
  { name: 'clock', schedule: { cron: '* * * * *' }, steps: [agent('tick')] },
];

/** What is sent at the beginning of a round: the pipelines that a delivery starts. */
export const DELIVERED = ['plain', 'group', 'parent', 'asks'] as const;

/** Writes definitions and configuration; answers the path of the configuration. */
export function writeSetting(setting: Setting): string {
  const { directory, databaseUrl, gatewayUrl, more } = setting;
  mkdirSync(join(directory, 'pipelines'), { recursive: true });
  for (const pipeline of pipelines(setting)) {
    const { name } = pipeline as { name: string };
    const trigger = { dedup: { enabled: true, window_seconds: 3600 } };
    writeFileSync(
      join(directory, 'pipelines', `${name}.yaml`),
      JSON.stringify({ stage: 'production', trigger, ...pipeline }),
    );
  }
  const file = join(directory, 'config.yaml');
  const config = {
    server: { host: '127.0.0.1', port: 0 },
    pipeline_config_dir: 'pipelines',
    database: { url: databaseUrl },
    executors: { gateway: { url: gatewayUrl, token: TOKENS.gateway } },
    artifacts: { dir: 'artifacts' },
    dedup: { enabled: true },
    concurrency: { max_runs: 500 },
    schedule: { catch_up_seconds: 3600 },
    security: { allow_shell_checks: true, egress_allow: ['127.0.0.1'] },
    auth: {
      tokens: [
        { name: 'sender', token: TOKENS.webhook, role: 'webhook', team: 'shop' },
        { name: 'person', token: TOKENS.operator, role: 'operator' },
      ],
    },
    ...more,
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}
