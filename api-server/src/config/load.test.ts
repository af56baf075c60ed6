import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from './load.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'config-'));
  mkdirSync(join(dir, 'pipelines'));
  writeFileSync(join(dir, 'server.crt'), 'x');
});
afterAll(() => rmSync(dir, { recursive: true }));

const TOKENS = 'auth: {tokens: [{name: ops, token: secret, role: operator}]}\n';

function load(text: string, env: Record<string, string> = {}) {
  const file = join(dir, 'config.yaml');
  writeFileSync(file, text);
  return loadConfig(file, env);
}

function loaded(text: string, env: Record<string, string> = {}) {
  const result = load(text, env);
  if (!result.ok) throw new Error(result.message);
  return result;
}

test('a file with one token gets every default', () => {
  const { config, warnings } = loaded(TOKENS);
  expect(config.server).toEqual({
    host: '0.0.0.0',
    port: 8000,
    tls: null,
    forwardedAllowIps: ['127.0.0.1'],
    maxBodyBytes: 1_048_576,
    podName: '',
  });
  expect(config.database).toEqual({ file: resolve('data/signalbox.db'), autoMigrate: true });
  expect(config.concurrency).toEqual({ maxRuns: 10, onFull: 'reject', maxQueued: 100 });
  expect(config.auth.sessionMaxAgeSeconds).toBe(28_800);
  expect(warnings).toEqual([]);
});

test('dedup is off without its block and on with an empty one', () => {
  expect(loaded(TOKENS).config.dedup.enabled).toBe(false);
  expect(loaded(`${TOKENS}dedup:\n`).config.dedup).toEqual({ enabled: true, windowSeconds: 300 });
  expect(loaded(`${TOKENS}dedup: {enabled: false}\n`).config.dedup.enabled).toBe(false);
});

test('placeholders take the environment, in numbers too, and never add YAML', () => {
  const text =
    'server: {port: "${PORT}"}\nexecutors: {gateway: {url: "ws://g/rpc", token: "${NONE}"}}\nauth: {tokens: [{name: a, token: "${T}", role: viewer}]}';
  const { config } = loaded(text, { PORT: '8123', T: 'a: [b' });
  expect(config.server.port).toBe(8123);
  expect(config.executors.gateway?.token).toBe('');
  expect(config.auth.tokens[0]?.token).toBe('a: [b');
});

test.each([
  ['sqlite:///var/lib/signalbox/a.db', '/var/lib/signalbox/a.db'],
  ['sqlite:////var/lib/a.db', '/var/lib/a.db'],
  ['sqlite:state/a.db', 'state/a.db'],
  ['state/a.db', 'state/a.db'],
])('database.url %s', (url, file) => {
  expect(loaded(`${TOKENS}database: {url: "${url}"}`).config.database).toMatchObject({ file: resolve(dir, file) });
});

test.each([
  [
    'postgres://u:p%40w@db.example:5433/signalbox?sslmode=verify-full',
    'postgres://u:p%40w@db.example:5433/signalbox?sslmode=verify-full',
  ],
  ['postgresql+asyncpg://u@h/d', 'postgres://u@h/d'],
  ['postgres://u@%2Frun%2Fpostgresql/d', 'postgres://u@%2Frun%2Fpostgresql/d'],
])('database.url %s is a server', (written, url) => {
  expect(loaded(`${TOKENS}database: {url: "${written}"}`).config.database).toEqual({ url, autoMigrate: true });
});

test('folders are relative to the file', () => {
  expect(loaded(`${TOKENS}pipeline_config_dir: pipelines`).config.pipelineConfigDir).toBe(join(dir, 'pipelines'));
});

test('deprecated token forms are read with a warning, and lose against auth.tokens', () => {
  const { config, warnings } = loaded('auth: {teams: [{name: shop, token: s1}], token: s2}');
  expect(config.auth.tokens).toEqual([
    { name: 'shop', token: 's1', role: 'webhook', team: 'shop' },
    { name: 'webhook', token: 's2', role: 'webhook', team: null },
  ]);
  expect(warnings).toHaveLength(2);
  const both = loaded('auth: {token: s2, tokens: [{name: a, token: s, role: admin}]}');
  expect(both.config.auth.tokens.map(({ name }) => name)).toEqual(['a']);
  expect(both.warnings).toEqual(['auth.token is ignored because auth.tokens is set']);
});

test('artifacts that could not be kept are a warning, a folder that is made later is none', () => {
  expect(loaded(`${TOKENS}artifacts: {dir: later/artifacts}`).warnings).toEqual([]);
  for (const file of ['server.crt', 'server.crt/below'])
    expect(loaded(`${TOKENS}artifacts: {dir: ${file}}`).warnings).toEqual([
      `artifacts.dir: ${join(dir, file)} cannot be written to by this user, so no artifact will be stored`,
    ]);
});

test('open to everybody is possible and warned about', () => {
  const { config, warnings } = loaded('auth: {allow_unauthenticated: true}');
  expect(config.auth.tokens).toEqual([]);
  expect(warnings.join()).toContain('auth.allow_unauthenticated');
});

describe('a failure is one line that names the key', () => {
  test.each([
    ['srever: {}', 'srever: unknown key; did you mean "server"?'],
    [`${TOKENS}server: {prot: 1}`, 'server.prot: unknown key; did you mean "port"?'],
    [`${TOKENS}port: 8000`, 'port: unknown key'],
    [`${TOKENS}server: {port: 70000}`, 'server.port:'],
    [`${TOKENS}server: {port: "\${NONE}"}`, 'server.port:'],
    [`${TOKENS}server: {tls: {cert: server.crt}}`, 'server.tls.key:'],
    [`${TOKENS}server: {tls: {cert: server.crt, key: none.key}}`, 'server.tls.key: no file'],
    [`${TOKENS}server: {forwarded_allow_ips: [10.0.0.0/33]}`, 'server.forwarded_allow_ips[0]: must be an address'],
    [`${TOKENS}pipeline_config_dir: nowhere`, 'pipeline_config_dir: no folder'],
    [`${TOKENS}database: {url: "mysql://x"}`, 'database.url:'],
    [`${TOKENS}database: {url: "postgres:x"}`, 'database.url:'],
    [`${TOKENS}database: {url: "postgres://u:secret@h:port/d"}`, 'database.url: must be'],
    [`${TOKENS}calibration: {bin_width: 0.3}`, 'calibration.bin_width: must divide'],
    [`${TOKENS}executors: {gateway: {url: "http://x"}}`, 'executors.gateway.url:'],
    [
      `${TOKENS}replay: {regression: [{golden_set: a, cron: "0 0 * * *", mode: rendered}]}`,
      'replay.regression[0].mode: must be rerender',
    ],
    [
      `${TOKENS}replay: {regression: [{golden_set: a, cron: "0 0 * * *"}, {golden_set: a, cron: "0 1 * * *"}]}`,
      'replay.regression[1].golden_set: has an entry already',
    ],
    [
      `${TOKENS}replay: {regression: [{golden_set: ../a, cron: "0 0 * * *"}]}`,
      'replay.regression[0].golden_set: is no',
    ],
    [`${TOKENS}replay: {regression: [{golden_set: a, cron: "* * *"}]}`, 'replay.regression[0].cron: is no cron'],
    [`${TOKENS}replay: {regression: [{golden_set: a, cron: "0 0 30 2 *"}]}`, 'replay.regression[0].cron: never fires'],
    [
      `${TOKENS}replay: {regression: [{golden_set: a, cron: "0 0 * * *", notify: {channel: pigeon}}]}`,
      'replay.regression[0].notify.channel:',
    ],
    [
      `${TOKENS}replay: {regression: [{golden_set: a, cron: "0 0 * * *", notify: {channel: webhook, config: {to: x}}}]}`,
      'replay.regression[0].notify.config.to: unknown key',
    ],
    [`${TOKENS}logging: {level: LOUD}`, 'logging.level:'],
    ['auth: {tokens: [{name: a, token: "", role: admin}]}', 'auth.tokens[0].token: is empty'],
    ['auth: {tokens: [{name: a, token: x, role: root}]}', 'auth.tokens[0].role:'],
    ['auth: {tokens: [{name: a, token: x, role: admin, team: t}]}', 'auth.tokens[0].team: is only valid'],
    ['auth: {tokens: [{name: a, token: x, role: admin}, {name: a, token: y, role: admin}]}', 'auth.tokens[1].name:'],
    ['auth: {tokens: [{name: a, token: x, role: admin}, {name: b, token: x, role: viewer}]}', 'auth.tokens[1].token:'],
    ['auth: {session_secret: "", allow_unauthenticated: true}', 'auth.session_secret: is empty'],
    ['auth: {tokens: []}', 'auth.tokens: is empty'],
    ['{}', 'auth.tokens: is empty'],
    ['[]', 'the file:'],
    ['a: [', 'line 1, column 5: '],
    ['server: {}\nserver: {}', 'line 2, column 1: key "server" is given twice'],
  ])('%s', (text, expected) => {
    const result = load(text);
    expect(result.ok).toBe(false);
    if (result.ok) return;
    expect(result.message).toContain(expected);
    expect(result.message).not.toContain('\n');
  });

  test('it names every problem, and the variables that are not set', () => {
    const tokens = 'auth: {tokens: [{name: a, token: "${ADMIN_TOKEN}", role: admin}, {name: b, token: x, role: king}]}';
    const result = load(`${tokens}\nserver: {port: "\${PORT}", prot: 1}`, { OTHER: 'x' });
    if (result.ok) throw new Error('was taken');
    expect(result.message).toContain(
      'auth.tokens[0].token: is empty, and ${ADMIN_TOKEN} is not set in the environment',
    );
    expect(result.message).toContain('; auth.tokens[1].role: expected one of');
    expect(result.message).toMatch(/server\.port: .*, and \$\{PORT\} is not set/);
    expect(result.message).toContain('; server.prot: unknown key');
  });

  test('tokens that are not set are not each other', () => {
    const entry = (name: string) => `{name: ${name}, token: "\${NONE}", role: admin}`;
    const result = load(`auth: {tokens: [${entry('a')}, ${entry('b')}]}`);
    if (result.ok) throw new Error('was taken');
    expect(result.message.match(/is empty/g)).toHaveLength(2);
    expect(result.message).not.toContain('of another entry');
  });

  test('it stays short where much is wrong', () => {
    const result = load(`${TOKENS}${['q', 'r', 's', 't', 'u', 'v', 'w'].map((key) => `${key}: 1\n`).join('')}`);
    expect(result).toMatchObject({ message: expect.stringMatching(/u: unknown key; and 2 more$/) });
  });

  test('a missing file', () => {
    expect(loadConfig(join(dir, 'none.yaml'), {})).toMatchObject({
      ok: false,
      message: expect.stringContaining('none.yaml: cannot be read'),
    });
  });
});

test('a budget of nothing is refused, for no share of it could be told', () => {
  expect(load(`${TOKENS}pricing: {team_budgets: {shop: 0}}`)).toMatchObject({
    ok: false,
    message: expect.stringContaining('pricing.team_budgets.shop: must be more than 0'),
  });
});
