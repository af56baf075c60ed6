import { z } from 'zod';
import { ApprovalsBlock } from './approvals-schema.ts';
import { AuthBlock } from './auth-schema.ts';
import { addressRange, block, decimal, flag, optionalBlock, text, url, whole, words } from './fields.ts';
import { Observability, Pricing, Replay } from './later-schema.ts';
import { ViewsBlock } from './views-schema.ts';
import { TenancyBlock } from './tenancy-schema.ts';
import { NotificationsBlock } from './notifications-schema.ts';

const LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const;
const upperCase = (value: unknown) => (typeof value === 'string' ? value.toUpperCase() : value);
const MIB = 1024 * 1024;

/** Certificate and key are required together; the error names the one that is set. */
const Tls = optionalBlock({
  cert: text().optional().describe('Certificate file (PEM)'),
  key: text().optional().describe('Key file (PEM)'),
  key_password: text().optional().describe('Password of the key'),
  client_ca: text()
    .optional()
    .describe('CA certificate file (PEM); clients must then present a certificate that it signed'),
}).transform((tls, context) => {
  if (tls === undefined) return undefined;
  const { cert, key, ...more } = tls;
  if (cert !== undefined && key !== undefined) return { cert, key, ...more };
  const [missing, other] = cert === undefined ? (['cert', 'key'] as const) : (['key', 'cert'] as const);
  const beside = tls[other] === undefined ? '' : `, and server.tls.${other} is ${tls[other]}`;
  context.addIssue({ code: 'custom', path: [missing], message: `is missing${beside}` });
  return z.NEVER;
});

const Server = block({
  host: text().default('0.0.0.0').describe('Address to listen on'),
  port: whole(0, 65_535).default(8000).describe('Port to listen on; 0 takes a free one'),
  tls: Tls.describe('Serve over TLS; SIGHUP reloads the certificate'),
  forwarded_allow_ips: words(addressRange())
    .default(['127.0.0.1'])
    .describe('Addresses of trusted proxies: their `X-Forwarded-*` headers set the client address and protocol'),
  max_body_bytes: whole(1024, 64 * MIB)
    .default(MIB)
    .describe('Largest request body; a larger one is refused with 413'),
  pod_name: z
    .string()
    .default('')
    .describe(
      'Name of the pod, which `GET /definitions` answers in the header `x-signalbox-pod` for the status of objects; the chart sets it',
    ),
  public_url: url('http:', 'https:').optional().describe('Public address of the pages, for links in messages'),
});

const connection = {
  url: url('ws:', 'wss:').describe('WebSocket address of the backend, ending in `/rpc`'),
  token: z.string().default('').describe('Token of the backend with the role `invoke`'),
  tls: optionalBlock({
    ca: text().optional().describe('CA certificate file (PEM) that signed the certificate of the backend'),
  }).describe('TLS settings of the connection'),
};

const Executors = block({
  external: optionalBlock(connection).describe('A backend of your own that speaks the agent protocol'),
  gateway: optionalBlock({
    ...connection,
    rest_url: url('http:', 'https:')
      .optional()
      .describe('Address of the REST API of the gateway, for the lists of agents and tools'),
  }).describe('The gateway'),
});

const Security = block({
  allow_shell_checks: flag()
    .default(false)
    .describe('Whether definitions may contain shell checks, which run with the rights of this service'),
  template_sandbox: flag()
    .default(true)
    .describe('Whether templates are limited to the tags and helpers on the allow-list'),
  compute_timeout_ms: whole(50, 60_000)
    .default(1000)
    .describe(
      'How long one evaluation of a schema, expression, pattern or template may take where it is not small; over it the step fails with `compute_limit`. Also the processor time (at least 1000) in which a definition of more than 8 KiB has to be checked; over it the definition is refused',
    ),
  pipeline_env: z
    .array(text().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a variable name'))
    .default([])
    .describe('Environment variables that definitions may use as `${NAME}`'),
  egress_allow: words()
    .default([])
    .describe('Private addresses or networks that HTTP requests of definitions may reach'),
});

const Database = block({
  url: text()
    .optional()
    .describe(
      '`sqlite:PATH` for one replica, or `postgres://USER:PASSWORD@HOST/DATABASE` for any number of replicas (Postgres 13 or newer; `?sslmode=verify-full&sslrootcert=FILE` for TLS); default: `data/signalbox.db` in the working directory',
    ),
  auto_migrate: flag()
    .default(true)
    .describe('Whether the schema is migrated at the start; if false, the service refuses to start on an older schema'),
}).describe('Database of the runs');

/** What the file says of the database; other keys are not looked at. */
export const DatabasePart = z.object({ database: Database });

/** The configuration file as written (Orchestration 2.13): strict, with defaults. `config.ts` has the resolved form. */
export const ConfigFile = block({
  server: Server.describe('Address, TLS and limits of the HTTP server'),
  pipeline_config_dir: text().optional().describe('Folder of pipeline files'),
  step_library_dir: text().optional().describe('Folder of library step files'),
  managed_dir: text().optional().describe('Folder that a controller writes; its definitions are read-only over HTTP'),
  database: Database,
  executors: Executors.describe('Backends that run agents'),
  logging: block({
    level: z.preprocess(upperCase, z.enum(LEVELS)).default('INFO').describe('Lowest level that is written'),
    dir: text().optional().describe('Folder for log files, in addition to stdout'),
  }).describe('The log: one JSON object per line'),
  artifacts: optionalBlock({
    dir: text()
      .optional()
      .describe('Folder for artifacts; without it they are stored in the database, which must then be Postgres'),
    retention_days: whole(1, 36_500).default(7).describe('Days until artifacts are removed'),
  }).describe('Files that agents return; without this block they are not stored'),
  dedup: optionalBlock({
    enabled: flag().default(true).describe('Whether an alert with the fingerprint of a recent run is suppressed'),
    window_seconds: whole(0, 31_536_000).default(300).describe('How long after a run its repeats are suppressed'),
  }).describe('Deduplication of repeated alerts; without this block it is off'),
  concurrency: block({
    max_runs: whole(1, 100_000).default(10).describe('Runs that execute at the same time'),
    on_full: z
      .enum(['reject', 'queue'])
      .default('reject')
      .describe(
        'What happens to a run without a free slot: `reject` answers 429, `queue` stores it until a slot is free',
      ),
    max_queued: whole(1, 100_000)
      .default(100)
      .describe('Runs that may wait: for a slot with `on_full: queue`, or for the `concurrency` of their pipeline'),
  }).describe('Limits of concurrent and waiting runs'),
  auth: AuthBlock.describe('Tokens, roles and sessions'),
  security: Security.describe('Limits of what definitions may do'),
  tenancy: TenancyBlock.describe('What pipelines of Kubernetes objects may do, by namespace'),
  schedule: block({
    catch_up_seconds: whole(0)
      .default(0)
      .describe('A scheduled run that the service missed while it was down still starts, if it is at most this late'),
  }).describe('Scheduled runs'),
  retention: block({
    runs_days: whole(1, 36_500).default(90).describe('Days until ended runs are removed'),
    audit_days: whole(1, 36_500)
      .optional()
      .describe('Days until entries of the audit log are removed; without it they are kept'),
    deliveries_days: whole(1, 36_500).default(7).describe('Days until deliveries to the webhook are removed'),
  }).describe('Retention of runs, of the audit log and of deliveries; expired rows are removed every day at 02:00'),
  notifications: NotificationsBlock.describe('Channels for messages and their credentials'),
  observability: Observability.describe('Telemetry in addition to logs and metrics'),
  approvals: ApprovalsBlock.prefault({}).describe('Who may decide approvals'),
  calibration: block({
    n_min: whole(1).default(20).describe('Marked outcomes that a bin needs before it is used'),
    bin_width: decimal(0.001, 1)
      .refine((width) => Math.abs(1 / width - Math.round(1 / width)) < 1e-9, 'must divide 1 evenly')
      .default(0.1)
      .describe('Width of a confidence bin; must divide 1 evenly'),
    cache_ttl_seconds: whole(0)
      .default(300)
      .describe('How long a gate reuses the calibration of a step before it reads the marks again'),
  }).describe('Calibration of confidences from marked outcomes'),
  pricing: Pricing.describe('Prices of models; without this block no cost is computed'),
  replay: Replay.describe('What may be replayed, and how answers are compared'),
  views: ViewsBlock.describe('Named views of the list of runs by team, `default` for those of everybody'),
});
export type ConfigFile = z.infer<typeof ConfigFile>;
