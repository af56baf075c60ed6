import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Config } from './config.ts';
import { type LoadedConfig, loadConfig } from './load.ts';

/** Every key of Orchestration 2.13 and 5: what is written is what the service gets, and what is left out is the default. */

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'keys-'));
  for (const folder of ['p', 's', 'm']) mkdirSync(join(dir, folder));
  for (const file of ['c.crt', 'c.key', 'ca.crt']) writeFileSync(join(dir, file), 'x');
});
afterAll(() => rmSync(dir, { recursive: true }));

const TOKENS = 'auth: {tokens: [{name: ops, token: secret, role: operator}]}\n';

function load(text: string): LoadedConfig {
  const file = join(dir, 'config.yaml');
  writeFileSync(file, text.includes('auth:') ? text : TOKENS + text);
  return loadConfig(file, { NAME: 'from the environment' });
}

function loaded(text: string) {
  const result = load(text);
  if (!result.ok) throw new Error(result.message);
  return result;
}

const tls = (more: string) => `server: {tls: {cert: c.crt, key: c.key${more}}}`;
const gateway = (more: string) => `executors: {gateway: {url: "wss://g/rpc"${more}}}`;
const live = (more: string) => `pricing: {live_pricing: {${more}}}`;
const otel = (more: string) => `observability: {otel: {enabled: true, ${more}}}`;
type Read = (config: Config) => unknown;
const inDir = (name: string) => join(dir, name);

/** key, what is written, where it ends, the value, the value where the key is left out */
const WORKING: [key: string, written: string, read: Read, value: () => unknown, left: unknown][] = [
  ['server.host', 'server: {host: 127.0.0.1}', (c) => c.server.host, () => '127.0.0.1', '0.0.0.0'],
  ['server.port', 'server: {port: 9}', (c) => c.server.port, () => 9, 8000],
  ['server.tls.cert', tls(''), (c) => c.server.tls?.cert, () => inDir('c.crt'), undefined],
  ['server.tls.key', tls(''), (c) => c.server.tls?.key, () => inDir('c.key'), undefined],
  ['server.tls.key_password', tls(', key_password: x'), (c) => c.server.tls?.keyPassword, () => 'x', undefined],
  ['server.tls.client_ca', tls(', client_ca: ca.crt'), (c) => c.server.tls?.clientCa, () => inDir('ca.crt'), undefined],
  [
    'server.forwarded_allow_ips',
    'server: {forwarded_allow_ips: "10.0.0.0/8, ::1"}',
    (c) => c.server.forwardedAllowIps,
    () => ['10.0.0.0/8', '::1'],
    ['127.0.0.1'],
  ],
  ['server.pod_name', 'server: {pod_name: api-1}', (c) => c.server.podName, () => 'api-1', ''],
  ['pipeline_config_dir', 'pipeline_config_dir: p', (c) => c.pipelineConfigDir, () => inDir('p'), null],
  ['step_library_dir', 'step_library_dir: s', (c) => c.stepLibraryDir, () => inDir('s'), null],
  ['managed_dir', 'managed_dir: m', (c) => c.managedDir, () => inDir('m'), null],
  [
    'database.url',
    'database: {url: "sqlite:///v/a.db"}',
    (c) => ('file' in c.database ? c.database.file : null),
    () => '/v/a.db',
    join(process.cwd(), 'data/signalbox.db'),
  ],
  ['database.auto_migrate', 'database: {auto_migrate: false}', (c) => c.database.autoMigrate, () => false, true],
  [
    'executors.external.url',
    'executors: {external: {url: "ws://e"}}',
    (c) => c.executors.external?.url,
    () => 'ws://e',
    undefined,
  ],
  ['executors.gateway.url', gateway(''), (c) => c.executors.gateway?.url, () => 'wss://g/rpc', undefined],
  ['executors.gateway.token', gateway(', token: t'), (c) => c.executors.gateway?.token, () => 't', undefined],
  [
    'executors.gateway.token may be empty',
    gateway(', token: ""'),
    (c) => c.executors.gateway?.token,
    () => '',
    undefined,
  ],
  [
    'executors.gateway.rest_url',
    gateway(', rest_url: "https://g"'),
    (c) => c.executors.gateway?.restUrl,
    () => 'https://g',
    undefined,
  ],
  [
    'executors.gateway.tls.ca',
    gateway(', tls: {ca: ca.crt}'),
    (c) => c.executors.gateway?.ca,
    () => inDir('ca.crt'),
    undefined,
  ],
  ['logging.level', 'logging: {level: debug}', (c) => c.logging.level, () => 'debug', 'info'],
  ['logging.dir', 'logging: {dir: logs}', (c) => c.logging.dir, () => inDir('logs'), null],
  ['artifacts.dir', 'artifacts: {dir: a}', (c) => c.artifacts?.dir, () => inDir('a'), undefined],
  [
    'artifacts.retention_days',
    'artifacts: {dir: a, retention_days: 3}',
    (c) => c.artifacts?.retentionDays,
    () => 3,
    undefined,
  ],
  ['artifacts.retention_days default', 'artifacts: {dir: a}', (c) => c.artifacts?.retentionDays, () => 7, undefined],
  [
    'artifacts.dir left out with Postgres',
    'database: {url: "postgres://a@b/c"}\nartifacts: {}',
    (c) => c.artifacts,
    () => ({ dir: null, retentionDays: 7 }),
    null,
  ],
  ['dedup.enabled', 'dedup: {enabled: true}', (c) => c.dedup.enabled, () => true, false],
  ['dedup.enabled default', 'dedup: {}', (c) => c.dedup.enabled, () => true, false],
  ['dedup.window_seconds', 'dedup: {window_seconds: 60}', (c) => c.dedup.windowSeconds, () => 60, 300],
  ['concurrency.max_runs', 'concurrency: {max_runs: 3}', (c) => c.concurrency.maxRuns, () => 3, 10],
  [
    'security.allow_shell_checks',
    'security: {allow_shell_checks: true}',
    (c) => c.security.allowShellChecks,
    () => true,
    false,
  ],
  [
    'security.template_sandbox',
    'security: {template_sandbox: false}',
    (c) => c.security.templateSandbox,
    () => false,
    true,
  ],
  [
    'security.compute_timeout_ms',
    'security: {compute_timeout_ms: 250}',
    (c) => c.security.computeTimeoutMs,
    () => 250,
    1000,
  ],
  [
    'observability.otel.enabled',
    'observability: {otel: {enabled: true}}',
    (c) => c.otel,
    () => ({ exporter: 'otlp', endpoint: null, serviceName: null }),
    null,
  ],
  ['observability.otel.exporter', otel('exporter: console'), (c) => c.otel?.exporter, () => 'console', undefined],
  [
    'observability.otel.endpoint',
    otel('endpoint: "http://t:1"'),
    (c) => c.otel?.endpoint,
    () => 'http://t:1',
    undefined,
  ],
  ['observability.otel.service_name', otel('service_name: x'), (c) => c.otel?.serviceName, () => 'x', undefined],
  [
    'calibration.cache_ttl_seconds',
    'calibration: {cache_ttl_seconds: 1}',
    (c) => c.calibration.cacheTtlSeconds,
    () => 1,
    300,
  ],
  ['pricing.currency', 'pricing: {currency: EUR}', (c) => c.pricing?.currency, () => 'EUR', undefined],
  ['pricing.currency default', 'pricing: {}', (c) => c.pricing?.currency, () => 'USD', undefined],
  [
    'pricing.models',
    'pricing: {models: [{match: {provider: a, model: b}, input_per_mtok: 1, output_per_mtok: 2.5}]}',
    (c) => c.pricing?.models,
    () => [{ provider: 'a', model: 'b', inputPerMtok: 1, outputPerMtok: 2.5 }],
    undefined,
  ],
  [
    'pricing.live_pricing.enabled',
    live('enabled: true'),
    (c) => c.pricing?.live,
    () => ({ url: 'https://openrouter.ai/api/v1/models', crossProvider: false, refreshSeconds: 3600 }),
    undefined,
  ],
  ['pricing.live_pricing.enabled default', 'pricing: {}', (c) => c.pricing?.live, () => null, undefined],
  [
    'pricing.live_pricing.allow_cross_provider',
    live('enabled: true, allow_cross_provider: true'),
    (c) => c.pricing?.live?.crossProvider,
    () => true,
    undefined,
  ],
  [
    'pricing.live_pricing.refresh_interval_seconds',
    live('enabled: true, refresh_interval_seconds: 60'),
    (c) => c.pricing?.live?.refreshSeconds,
    () => 60,
    undefined,
  ],
  [
    'pricing.team_budgets',
    'pricing: {team_budgets: {shop: 100}}',
    (c) => c.pricing?.teamBudgets,
    () => ({ shop: 100 }),
    undefined,
  ],
  ['calibration.n_min', 'calibration: {n_min: 5}', (c) => c.calibration.nMin, () => 5, 20],
  ['calibration.bin_width', 'calibration: {bin_width: 0.25}', (c) => c.calibration.binWidth, () => 0.25, 0.1],
  [
    'notifications.<chat_channel>.bot_token and .chat_id',
    'notifications: {telegram: {bot_token: "${NAME}", chat_id: -5}}',
    (c) => c.notifications.telegram,
    () => ({ bot_token: 'from the environment', chat_id: '-5' }),
    undefined,
  ],
  [
    'auth.allow_unauthenticated',
    'auth: {allow_unauthenticated: true}',
    (c) => c.auth.allowUnauthenticated,
    () => true,
    false,
  ],
  [
    'auth.metrics_auth',
    'auth: {allow_unauthenticated: true, metrics_auth: true}',
    (c) => c.auth.metricsAuth,
    () => true,
    false,
  ],
  [
    'auth.session_secret',
    'auth: {allow_unauthenticated: true, session_secret: s}',
    (c) => c.auth.sessionSecret,
    () => 's',
    null,
  ],
  [
    'auth.session_max_age_seconds',
    'auth: {allow_unauthenticated: true, session_max_age_seconds: 60}',
    (c) => c.auth.sessionMaxAgeSeconds,
    () => 60,
    28_800,
  ],
  [
    'auth.session_max_age_remembered_seconds',
    'auth: {allow_unauthenticated: true, session_max_age_remembered_seconds: 60}',
    (c) => c.auth.sessionMaxAgeRememberedSeconds,
    () => 60,
    2_592_000,
  ],
  ['replay.safe_agents', 'replay: {safe_agents: ["gateway:a"]}', (c) => c.replay.safeAgents, () => ['gateway:a'], []],
  ['replay.max_batches', 'replay: {max_batches: 2}', (c) => c.replay.maxBatches, () => 2, 4],
  ['replay.judge.agent', 'replay: {judge: {agent: j}}', (c) => c.replay.judge?.agent, () => 'j', undefined],
  [
    'replay.judge.agent (default)',
    'replay: {judge: {}}',
    (c) => c.replay.judge,
    () => ({ executor: 'gateway', agent: 'replay-judge', timeoutSeconds: 120, maxOutputChars: 4000 }),
    null,
  ],
  [
    'replay.judge.executor',
    'replay: {judge: {executor: external}}',
    (c) => c.replay.judge?.executor,
    () => 'external',
    undefined,
  ],
  [
    'replay.judge.timeout_seconds',
    'replay: {judge: {timeout_seconds: 9}}',
    (c) => c.replay.judge?.timeoutSeconds,
    () => 9,
    undefined,
  ],
  [
    'replay.judge.max_output_chars',
    'replay: {judge: {max_output_chars: 9}}',
    (c) => c.replay.judge?.maxOutputChars,
    () => 9,
    undefined,
  ],
  [
    'replay.regression',
    'replay: {regression: [{golden_set: g, cron: "0 2 * * *", alert_on_regressed: 2, alert_on_accuracy_drop: 0.2, notify: {channel: log, template: t, config: {level: warn}}}]}',
    (c) => c.regressions,
    () => [
      {
        goldenSet: 'g',
        cron: '0 2 * * *',
        alertOnRegressed: 2,
        alertOnAccuracyDrop: 0.2,
        notify: { channel: 'log', template: 't', config: { level: 'warn' } },
      },
    ],
    [],
  ],
  [
    'replay.regression (defaults)',
    'replay: {regression: [{golden_set: g, cron: "0 2 * * *"}]}',
    (c) => c.regressions,
    () => [{ goldenSet: 'g', cron: '0 2 * * *', alertOnRegressed: 1, alertOnAccuracyDrop: 0.1, notify: null }],
    [],
  ],
  [
    'views',
    'views: {default: [{name: All, filters: {attention: open}}], shop: [{name: Mine, filters: {team: shop}}]}',
    (c) => c.views,
    () => [
      { team: null, name: 'All', filters: { attention: 'open' } },
      { team: 'shop', name: 'Mine', filters: { team: 'shop' } },
    ],
    [],
  ],
];

describe('the key', () => {
  test.each(WORKING)('%s', (_, written, read, value, left) => {
    expect(read(loaded(written).config)).toEqual(value());
    expect(read(loaded('').config)).toEqual(left);
  });
});

/** key, a value it does not take */
const WRONG: [key: string, written: string][] = [
  ['server.host', 'server: {host: ""}'],
  ['server.port', 'server: {port: eight}'],
  ['server.tls.key', 'server: {tls: {cert: c.crt}}'],
  ['server.tls.cert', 'server: {tls: {key: c.key}}'],
  ['server.tls.cert', 'server: {tls: {cert: none.crt, key: c.key}}'],
  ['server.tls.client_ca', tls(', client_ca: none.crt')],
  ['server.forwarded_allow_ips[0]', 'server: {forwarded_allow_ips: [proxy.example]}'],
  ['server.max_body_bytes', 'server: {max_body_bytes: 1}'],
  ['pipeline_config_dir', 'pipeline_config_dir: c.crt'],
  ['step_library_dir', 'step_library_dir: none'],
  ['managed_dir', 'managed_dir: none'],
  ['database.url', 'database: {url: "oracle://x"}'],
  ['database.auto_migrate', 'database: {auto_migrate: maybe}'],
  ['executors.gateway.url', 'executors: {gateway: {}}'],
  ['executors.gateway.rest_url', gateway(', rest_url: "ftp://x"')],
  ['executors.gateway.tls.ca', gateway(', tls: {ca: none.crt}')],
  ['executors.external.url', 'executors: {external: {url: "x"}}'],
  ['logging.level', 'logging: {level: 3}'],
  ['artifacts.dir', 'artifacts: {retention_days: 3}'],
  ['artifacts.retention_days', 'artifacts: {dir: a, retention_days: 0}'],
  ['dedup.enabled', 'dedup: {enabled: 2}'],
  [
    'tenancy.namespaces.shop.match',
    `tenancy: {namespaces: {shop: {match: {${Array.from({ length: 65 }, (_, at) => `a${at}: 1`).join()}}}}}`,
  ],
  ['dedup.window_seconds', 'dedup: {window_seconds: -1}'],
  ['concurrency.max_runs', 'concurrency: {max_runs: 0}'],
  ['security.allow_shell_checks', 'security: {allow_shell_checks: "yes"}'],
  ['security.pipeline_env[0]', 'security: {pipeline_env: ["A-B"]}'],
  ['calibration.n_min', 'calibration: {n_min: 0}'],
  ['calibration.bin_width', 'calibration: {bin_width: 0.07}'],
  ['observability.otel.exporter', 'observability: {otel: {exporter: zipkin}}'],
  [
    'pricing.models[0].match.provider',
    'pricing: {models: [{match: {model: b}, input_per_mtok: 1, output_per_mtok: 2}]}',
  ],
  ['pricing.live_pricing.refresh_interval_seconds', 'pricing: {live_pricing: {refresh_interval_seconds: 1}}'],
  ['replay.safe_agents[0]', 'replay: {safe_agents: [x]}'],
  ['replay.max_batches', 'replay: {max_batches: 0}'],
  ['replay.regression[0].golden_set', 'replay: {regression: [{cron: "0 2 * * *"}]}'],
  ['auth.tokens[0].name', 'auth: {tokens: [{name: "", token: x, role: admin}]}'],
  ['auth.tokens[0].role', 'auth: {tokens: [{name: a, token: x}]}'],
  ['auth.tokens[0].colour', 'auth: {tokens: [{name: a, token: x, role: admin, colour: red}]}'],
  ['auth.session_max_age_seconds', 'auth: {allow_unauthenticated: true, session_max_age_seconds: 0}'],
  ['notifications.slak', 'notifications: {slak: {}}'],
];

describe('a wrong value ends the start with one line that names the key', () => {
  test.each(WRONG)('%s: %s', (key, written) => {
    const result = load(written);
    if (result.ok) throw new Error('it was taken');
    expect(result.message.slice(inDir('config.yaml').length)).toMatch(new RegExp(`^: ${RegExp.escape(key)}: .`));
    expect(result.message).not.toContain('\n');
  });
});

test('a certificate without its key is named with its path', () => {
  expect(load('server: {tls: {cert: /etc/tls/c.crt}}')).toMatchObject({
    ok: false,
    message: expect.stringContaining('server.tls.key: is missing, and server.tls.cert is /etc/tls/c.crt'),
  });
});
