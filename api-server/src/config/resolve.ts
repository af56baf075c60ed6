import { dirname, resolve } from 'node:path';
import { type BackendConfig, type Config, tokensOf } from './config.ts';
import type { ConfigFile } from './schema.ts';

type DatabaseLocation = { file: string } | { url: string };
export type LoadedDatabase = { ok: true; database: DatabaseLocation } | { ok: false; message: string };
export type Resolved = { ok: true; config: Config } | { ok: false; message: string };
type ResolvePath = (path: string) => string;

const LEVELS = { DEBUG: 'debug', INFO: 'info', WARNING: 'warn', ERROR: 'error' } as const;

/** Converts the file to the configuration of the service, with absolute paths. */
export function resolveConfig(parsed: ConfigFile, file: string): Resolved {
  const at: ResolvePath = (path) => resolve(dirname(file), path);
  const optional = (path: string | undefined) => (path === undefined ? null : at(path));
  const located = resolveDatabase(parsed.database.url, file);
  if (!located.ok) return located;
  const { auth, concurrency, dedup, logging, security } = parsed;
  const config: Config = {
    file,
    server: resolveServer(parsed.server, at),
    publicUrl: parsed.server.public_url ?? null,
    pipelineConfigDir: optional(parsed.pipeline_config_dir),
    stepLibraryDir: optional(parsed.step_library_dir),
    managedDir: optional(parsed.managed_dir),
    database: { ...located.database, autoMigrate: parsed.database.auto_migrate },
    ...resolveKeeping(parsed, at),
    executors: resolveExecutors(parsed.executors, at),
    logging: { level: LEVELS[logging.level], dir: optional(logging.dir) },
    schedule: { catchUpSeconds: parsed.schedule.catch_up_seconds },
    dedup: { enabled: dedup?.enabled ?? false, windowSeconds: dedup?.window_seconds ?? 300 },
    concurrency: { maxRuns: concurrency.max_runs, onFull: concurrency.on_full, maxQueued: concurrency.max_queued },
    auth: {
      tokens: tokensOf(auth),
      allowUnauthenticated: auth.allow_unauthenticated,
      metricsAuth: auth.metrics_auth,
      sessionSecret: auth.session_secret ?? null,
      sessionMaxAgeSeconds: auth.session_max_age_seconds,
      sessionMaxAgeRememberedSeconds: auth.session_max_age_remembered_seconds,
    },
    notifications: parsed.notifications,
    tenancy: parsed.tenancy,
    pricing: parsed.pricing ? resolvePricing(parsed.pricing) : null,
    otel: resolveOtel(parsed.observability.otel),
    approvals: resolveApprovals(parsed.approvals),
    calibration: {
      nMin: parsed.calibration.n_min,
      binWidth: parsed.calibration.bin_width,
      cacheTtlSeconds: parsed.calibration.cache_ttl_seconds,
    },
    ...resolveReplay(parsed.replay),
    views: Object.entries(parsed.views).flatMap(([team, views]) =>
      views.map((view) => ({ ...view, team: team === 'default' ? null : team })),
    ),
    security: {
      allowShellChecks: security.allow_shell_checks,
      templateSandbox: security.template_sandbox,
      computeTimeoutMs: security.compute_timeout_ms,
      pipelineEnv: security.pipeline_env,
      egressAllow: security.egress_allow,
    },
  };
  return { ok: true, config };
}

function resolveApprovals({
  approvers,
  required,
  not_the_starter: notTheStarter,
}: ConfigFile['approvals']): Config['approvals'] {
  const teams = Object.entries(approvers ?? {}).map(
    ([team, persons]) => [team, persons.map((one) => [one].flat())] as const,
  );
  return { approvers: approvers === undefined ? null : new Map(teams), required, notTheStarter };
}

function resolvePricing({
  currency,
  models,
  team_budgets,
  live_pricing: live,
}: NonNullable<ConfigFile['pricing']>): Config['pricing'] {
  const prices = models.map(({ match, cached_input_per_mtok: cached, ...price }) => ({
    ...match,
    inputPerMtok: price.input_per_mtok,
    outputPerMtok: price.output_per_mtok,
    ...(cached !== undefined && { cachedInputPerMtok: cached }),
  }));
  const { enabled, url, allow_cross_provider: crossProvider, refresh_interval_seconds: refreshSeconds } = live;
  return {
    currency,
    models: prices,
    teamBudgets: team_budgets,
    live: enabled ? { url, crossProvider, refreshSeconds } : null,
  };
}

function resolveReplay(replay: ConfigFile['replay']): Pick<Config, 'replay' | 'regressions'> {
  const { safe_agents: safeAgents = [], max_batches: maxBatches = 4, judge, regression = [] } = replay ?? {};
  const regressions = regression.map((entry) => ({
    goldenSet: entry.golden_set,
    cron: entry.cron,
    alertOnRegressed: entry.alert_on_regressed,
    alertOnAccuracyDrop: entry.alert_on_accuracy_drop,
    notify: entry.notify ?? null,
  }));
  if (!judge) return { replay: { safeAgents, maxBatches, judge: null }, regressions };
  const { executor, agent, timeout_seconds: timeoutSeconds, max_output_chars: maxOutputChars } = judge;
  return {
    replay: { safeAgents, maxBatches, judge: { executor, agent, timeoutSeconds, maxOutputChars } },
    regressions,
  };
}

function resolveOtel({ enabled, ...otel }: ConfigFile['observability']['otel']): Config['otel'] {
  if (!enabled) return null;
  const { exporter, endpoint = null, service_name: serviceName = null } = otel;
  return { exporter, endpoint, serviceName };
}

/** How long artifacts, runs and audit rows are kept. */
function resolveKeeping(
  { artifacts, retention }: ConfigFile,
  at: ResolvePath,
): Pick<Config, 'artifacts' | 'retention'> {
  return {
    artifacts: artifacts
      ? { dir: artifacts.dir === undefined ? null : at(artifacts.dir), retentionDays: artifacts.retention_days }
      : null,
    retention: {
      runsDays: retention.runs_days,
      auditDays: retention.audit_days ?? null,
      deliveriesDays: retention.deliveries_days,
    },
  };
}

function resolveServer(server: ConfigFile['server'], at: ResolvePath): Config['server'] {
  const { tls } = server;
  return {
    host: server.host,
    port: server.port,
    tls: tls
      ? {
          cert: at(tls.cert),
          key: at(tls.key),
          keyPassword: tls.key_password ?? null,
          clientCa: tls.client_ca === undefined ? null : at(tls.client_ca),
        }
      : null,
    forwardedAllowIps: server.forwarded_allow_ips,
    maxBodyBytes: server.max_body_bytes,
    podName: server.pod_name,
  };
}

function resolveExecutors({ external, gateway }: ConfigFile['executors'], at: ResolvePath): Config['executors'] {
  const backend = (written: { url: string; token: string; tls?: { ca?: string } }): BackendConfig => ({
    url: written.url,
    token: written.token,
    ca: written.tls?.ca === undefined ? null : at(written.tls.ca),
  });
  return {
    external: external ? backend(external) : null,
    gateway: gateway ? { ...backend(gateway), restUrl: gateway.rest_url ?? null } : null,
  };
}

/** `file` is the configuration file, which a relative path is relative to. */
export function resolveDatabase(url: string | undefined, file: string): LoadedDatabase {
  const database = databaseLocation(url, (path) => resolve(dirname(file), path));
  if (database !== null) return { ok: true, database };
  return { ok: false, message: 'database.url: must be sqlite:PATH or postgres://USER@HOST/DATABASE' };
}

/**
 * `sqlite:///absolute/path`, `sqlite:relative/path`, a plain path, or `postgres://…` (`postgresql://…`); null for any
 * other kind of database. A driver name after a `+`, as in `postgresql+asyncpg`, is ignored.
 * The default is `data/signalbox.db` in the working directory.
 */
function databaseLocation(url: string | undefined, at: ResolvePath): DatabaseLocation | null {
  if (url === undefined) return { file: resolve('data/signalbox.db') };
  const [, scheme, rest] = /^([A-Za-z][A-Za-z0-9.-]+)(?:\+[A-Za-z0-9]+)?:(.*)$/.exec(url) ?? [undefined, 'sqlite', url];
  if (scheme === 'postgres' || scheme === 'postgresql') {
    const clean = `postgres:${rest ?? ''}`;
    return clean.startsWith('postgres://') && URL.canParse(clean) ? { url: clean } : null;
  }
  if (scheme !== 'sqlite' || !rest) return null;
  return { file: at(rest.replace(/^\/\/+/, '/')) };
}
