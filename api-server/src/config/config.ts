import type { Tenancy } from '@signalbox/crds';
import type { AuthBlock, TOKEN_ROLES } from './auth-schema.ts';
import type { AlertRoute, NotificationsBlock } from './notifications-schema.ts';

export type TokenRole = (typeof TOKEN_ROLES)[number];

/** One named secret (Orchestration 2.14). */
export interface Token {
  name: string;
  token: string;
  role: TokenRole;
  team: string | null;
  /** Deliveries a minute, and bytes a day; absent without a limit. */
  rateLimit?: number;
  dailyBytes?: number;
}

export interface TlsConfig {
  cert: string;
  key: string;
  keyPassword: string | null;
  clientCa: string | null;
}

export interface BackendConfig {
  url: string;
  /** Empty where the backend needs none. */
  token: string;
  /** Absolute path of a CA certificate file. */
  ca: string | null;
}

/** A person is a list of the names under which one decides. */
export interface ApprovalsConfig {
  /** By team, with `default`; null where everybody may decide. */
  approvers: ReadonlyMap<string, readonly (readonly string[])[]> | null;
  required: number;
  notTheStarter: boolean;
}

export interface AuthConfig {
  tokens: Token[];
  allowUnauthenticated: boolean;
  metricsAuth: boolean;
  /** Null: a random key is made at every start. */
  sessionSecret: string | null;
  sessionMaxAgeSeconds: number;
  sessionMaxAgeRememberedSeconds: number;
}

export type DatabaseConfig = ({ file: string } | { url: string }) & { autoMigrate: boolean };

/** Where traces go (Orchestration 6). */
export interface OtelConfig {
  exporter: 'otlp' | 'console';
  /** Base address of the collector; null leaves it to the environment variables of the SDK. */
  endpoint: string | null;
  serviceName: string | null;
}

/** What models cost (Orchestration 2.13). Amounts are in `currency`, which is a label. */
export interface PricingConfig {
  currency: string;
  models: { provider: string; model: string; inputPerMtok: number; outputPerMtok: number }[];
  teamBudgets: Record<string, number>;
  /** Null where only the prices of `models` apply. */
  live: { url: string; crossProvider: boolean; refreshSeconds: number } | null;
}

/** What may be replayed, and who compares the answers (Orchestration 2.13). */
export interface ReplayConfig {
  /** `<executor>:<agent>`; empty: nothing may be replayed. */
  safeAgents: string[];
  /** Those of people that may wait or run at the same time. */
  maxBatches: number;
  judge: { executor: 'gateway' | 'external'; agent: string; timeoutSeconds: number; maxOutputChars: number } | null;
}

/** A golden set that is replayed by the clock (Orchestration 4.6). */
export interface RegressionEntry {
  goldenSet: string;
  /** In UTC. */
  cron: string;
  alertOnRegressed: number;
  /** A share, 0..1. */
  alertOnAccuracyDrop: number;
  /** Null: the log. */
  notify: AlertRoute | null;
}

export interface ServerConfig {
  host: string;
  port: number;
  tls: TlsConfig | null;
  forwardedAllowIps: string[];
  maxBodyBytes: number;
  /** Empty where it is not known. */
  podName: string;
}

/** The checked configuration: every path absolute, every default applied. Blocks without an effect in this version are left out. */
export interface Config {
  /** Absolute path of the file it was read from. */
  file: string;
  server: ServerConfig;
  /** Public address of the pages, for links in messages; null: messages have no links. */
  publicUrl: string | null;
  pipelineConfigDir: string | null;
  stepLibraryDir: string | null;
  managedDir: string | null;
  /** File of the embedded database, or URL of a Postgres server. The URL may contain a password. */
  database: DatabaseConfig;
  executors: { external: BackendConfig | null; gateway: (BackendConfig & { restUrl: string | null }) | null };
  logging: { level: 'debug' | 'info' | 'warn' | 'error'; dir: string | null };
  /** Null: artifacts are not stored. Without a folder they are stored in the database. */
  artifacts: { dir: string | null; retentionDays: number } | null;
  schedule: { catchUpSeconds: number };
  /** Null: never removed. */
  retention: { runsDays: number; auditDays: number | null; deliveriesDays: number };
  dedup: { enabled: boolean; windowSeconds: number };
  concurrency: { maxRuns: number; onFull: 'reject' | 'queue'; maxQueued: number };
  auth: AuthConfig;
  /** Keys as in the file. The `config` of a message overrides the settings of its channel. */
  notifications: NotificationsBlock;
  pricing: PricingConfig | null;
  /** Null: tracing is off. */
  otel: OtelConfig | null;
  approvals: ApprovalsConfig;
  calibration: { nMin: number; binWidth: number; cacheTtlSeconds: number };
  replay: ReplayConfig;
  /** Keys as in the file. */
  tenancy: Tenancy;
  /** Golden sets that are replayed by the clock (`replay.regression`). */
  regressions: RegressionEntry[];
  /** Named views of the list of runs; the team is null for those of everybody. */
  views: { team: string | null; name: string; filters: Record<string, string> }[];
  security: {
    allowShellChecks: boolean;
    templateSandbox: boolean;
    computeTimeoutMs: number;
    pipelineEnv: string[];
    egressAllow: string[];
  };
}

/** Tokens in force: the deprecated forms count only where `auth.tokens` is not set (Orchestration 5, rule 4). */
export function tokensOf(auth: AuthBlock): Token[] {
  if (auth.tokens)
    return auth.tokens.map(({ team = null, rate_limit: rateLimit, daily_bytes: dailyBytes, ...entry }) => ({
      ...entry,
      team,
      rateLimit,
      dailyBytes,
    }));
  const teams = (auth.teams ?? []).map(({ name, token }) => ({ name, token, role: 'webhook' as const, team: name }));
  const single =
    auth.token === undefined ? [] : [{ name: 'webhook', token: auth.token, role: 'webhook' as const, team: null }];
  return [...teams, ...single];
}
