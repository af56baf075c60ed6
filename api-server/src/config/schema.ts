import { z } from 'zod';
import { AuthBlock } from './auth-schema.ts';
import { addressRange, block, decimal, flag, optionalBlock, text, url, whole, words } from './fields.ts';
import { Observability, Pricing, Replay } from './later-schema.ts';
import { NotificationsBlock } from './notifications-schema.ts';

const LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const;
const upperCase = (value: unknown) => (typeof value === 'string' ? value.toUpperCase() : value);
const MIB = 1024 * 1024;

/** Cert and key come together; the failure names the one that is there. */
const Tls = optionalBlock({
  cert: text().optional().describe('File of the certificate'),
  key: text().optional().describe('File of its key'),
  key_password: text().optional().describe('Password of the key'),
  client_ca: text().optional().describe('File of an authority; clients must show a certificate it signed'),
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
  tls: Tls.describe('Serve TLS; renewed certificates are read at SIGHUP'),
  forwarded_allow_ips: words(addressRange())
    .default(['127.0.0.1'])
    .describe('Proxies whose forwarded protocol and address are believed'),
  max_body_bytes: whole(1024, 64 * MIB)
    .default(MIB)
    .describe('Larger bodies are 413'),
  public_url: url('http:', 'https:').optional().describe('Where people reach the pages, for links in messages'),
});

const connection = {
  url: url('ws:', 'wss:').describe('Address of its `/rpc`'),
  token: z.string().default('').describe('Its `invoke` token'),
  tls: optionalBlock({ ca: text().optional().describe('File of the authority that signed its certificate') }).describe(
    'Trust in its certificate',
  ),
};

const Executors = block({
  external: optionalBlock(connection).describe('A backend of your own that speaks the agent protocol'),
  gateway: optionalBlock({
    ...connection,
    rest_url: url('http:', 'https:').optional().describe('Address of its REST API, for lists of agents and tools'),
  }).describe('The gateway'),
});

const Security = block({
  allow_shell_checks: flag()
    .default(false)
    .describe('Whether definitions may run shell text, with the rights of this service'),
  template_sandbox: flag().default(true).describe('Whether templates may do only what is on the allow-list'),
  pipeline_env: z
    .array(text().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a variable name'))
    .default([])
    .describe('Variables that definitions may write as `${NAME}`'),
  egress_allow: words().default([]).describe('Private addresses or networks that definitions may call'),
});

/** The configuration file as written (Orchestration 2.13, Design 4 to 9): strict, with defaults. `config.ts` says it in the service's words. */
export const ConfigFile = block({
  server: Server.describe('Where the service listens'),
  pipeline_config_dir: text().optional().describe('Folder of pipelines'),
  step_library_dir: text().optional().describe('Folder of library steps'),
  managed_dir: text().optional().describe('Folder that a controller writes; its names are read-only over HTTP'),
  database: block({
    url: text()
      .optional()
      .describe(
        '`sqlite:PATH` for one process at a time, or for any number of them `postgres://USER:PASSWORD@HOST/DATABASE` (13 or newer; `?sslmode=verify-full&sslrootcert=FILE` for TLS); left out, `data/signalbox.db` in the working directory',
      ),
    auto_migrate: flag()
      .default(true)
      .describe('Whether the schema is migrated at the start; otherwise one that is behind ends it'),
  }).describe('Where runs are kept'),
  executors: Executors.describe('Backends that run agents'),
  logging: block({
    level: z.preprocess(upperCase, z.enum(LEVELS)).default('INFO').describe('Least level that is written'),
    dir: text().optional().describe('Folder for log files beside stdout'),
  }).describe('The log: one JSON object a line'),
  artifacts: optionalBlock({
    dir: text()
      .optional()
      .describe('Folder that they are written to; left out, the database, which must be Postgres then'),
    retention_days: whole(1, 36_500).default(7).describe('Days until they are removed'),
  }).describe('Files that agents leave; without the block they are not stored'),
  dedup: optionalBlock({
    enabled: flag().default(true).describe('Whether repeats of a fingerprint start nothing'),
    window_seconds: whole(0, 31_536_000).default(300).describe('How long after a run its repeats start nothing'),
  }).describe('Repeats of the same alert; leaving out the block turns it off'),
  concurrency: block({
    max_runs: whole(1, 100_000).default(10).describe('Runs that execute at the same time'),
    on_full: z
      .enum(['reject', 'queue'])
      .default('reject')
      .describe('What happens to the next one: 429, or it is stored and waits'),
    max_queued: whole(1, 100_000)
      .default(100)
      .describe(
        'Runs that may wait: for a slot with `on_full: queue`, or for a place in their pipeline’s own `concurrency`',
      ),
  }).describe('How much runs at once'),
  auth: AuthBlock.describe('Who may come in'),
  security: Security.describe('What definitions may do'),
  schedule: block({
    catch_up_seconds: whole(0)
      .default(0)
      .describe('How late a run may start whose time passed while the service was down'),
  }).describe('Runs by the clock'),
  retention: block({
    runs_days: whole(1, 36_500).optional().describe('Days until ended runs are removed; kept where it is left out'),
    audit_days: whole(1, 36_500)
      .optional()
      .describe('Days until entries of the audit log are removed; kept where it is left out'),
  }).describe('What is removed, every day at 02:00'),
  notifications: NotificationsBlock.describe('Channels of messages and their credentials'),
  observability: Observability.describe('What the service tells of itself beside logs and metrics'),
  calibration: block({
    n_min: whole(1).default(20).describe('Marks that a bin needs'),
    bin_width: decimal(0.001, 1)
      .refine((width) => Math.abs(1 / width - Math.round(1 / width)) < 1e-9, 'must divide 1 evenly')
      .default(0.1)
      .describe('Width of a bin of confidence; divides 1 evenly'),
    cache_ttl_seconds: whole(0)
      .default(300)
      .describe('How long a gate reuses the buckets of a step before it reads them again'),
  }).describe('What marked outcomes say of a confidence'),
  pricing: Pricing.describe('What models cost; without the block every cost stays empty'),
  replay: Replay.describe('Read and checked; without effect in this version'),
});
export type ConfigFile = z.infer<typeof ConfigFile>;
