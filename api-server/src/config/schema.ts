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
  cert: text().optional(),
  key: text().optional(),
  key_password: text().optional(),
  client_ca: text().optional(),
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
  host: text().default('0.0.0.0'),
  port: whole(0, 65_535).default(8000),
  tls: Tls,
  forwarded_allow_ips: words(addressRange()).default(['127.0.0.1']),
  max_body_bytes: whole(1024, 64 * MIB).default(MIB),
  public_url: url('http:', 'https:').optional(),
});

const Executors = block({
  external: optionalBlock({
    url: url('ws:', 'wss:'),
    token: z.string().default(''),
    tls: optionalBlock({ ca: text().optional() }),
  }),
  gateway: optionalBlock({
    url: url('ws:', 'wss:'),
    token: z.string().default(''),
    rest_url: url('http:', 'https:').optional(),
    tls: optionalBlock({ ca: text().optional() }),
  }),
});

const Security = block({
  allow_shell_checks: flag().default(false),
  template_sandbox: flag().default(true),
  pipeline_env: z.array(text().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a variable name')).default([]),
  egress_allow: words().default([]),
});

/** The configuration file as written (Orchestration 2.13, Design 4 to 9): strict, with defaults. `config.ts` says it in the service's words. */
export const ConfigFile = block({
  server: Server,
  pipeline_config_dir: text().optional(),
  step_library_dir: text().optional(),
  managed_dir: text().optional(),
  database: block({ url: text().optional(), auto_migrate: flag().default(true) }),
  executors: Executors,
  logging: block({ level: z.preprocess(upperCase, z.enum(LEVELS)).default('INFO'), dir: text().optional() }),
  artifacts: optionalBlock({ dir: text(), retention_days: whole(1, 36_500).default(7) }),
  dedup: optionalBlock({ enabled: flag().default(true), window_seconds: whole(0, 31_536_000).default(300) }),
  concurrency: block({
    max_runs: whole(1, 100_000).default(10),
    on_full: z.enum(['reject', 'queue']).default('reject'),
    max_queued: whole(1, 100_000).default(100),
  }),
  auth: AuthBlock,
  security: Security,
  schedule: block({ catch_up_seconds: whole(0).default(0) }),
  retention: block({ runs_days: whole(1, 36_500).optional(), audit_days: whole(1, 36_500).optional() }),
  notifications: NotificationsBlock,
  observability: Observability,
  calibration: block({
    n_min: whole(1).default(20),
    bin_width: decimal(0.001, 1)
      .refine((width) => Math.abs(1 / width - Math.round(1 / width)) < 1e-9, 'must divide 1 evenly')
      .default(0.1),
    cache_ttl_seconds: whole(0).default(300),
  }),
  pricing: Pricing,
  replay: Replay,
});
export type ConfigFile = z.infer<typeof ConfigFile>;
