import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig, parseConfig } from './load.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-config-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function parsed(text: string, env: Record<string, string> = {}) {
  const loaded = parseConfig(text, directory, env);
  if (!loaded.ok) throw new Error(loaded.message);
  return loaded.config;
}

test('an empty file is a whole configuration', () => {
  const config = parsed('');
  expect(config.server).toMatchObject({ host: '127.0.0.1', port: 18_780, metrics_auth: false });
  expect(config.limits).toMatchObject({ max_concurrent_runs: 10, max_queued_runs: 100, max_iterations: 20 });
  expect(config.providers).toMatchObject({ demo: { type: 'demo', default: true } });
  expect(config.agents_dir).toBe(join(directory, 'agents'));
});

test('${ENV} is filled in, an unset one is empty', () => {
  const text = 'providers: {a: {type: anthropic, api_key: "${KEY}"}, b: {type: openai, api_key: "x${NOT_SET}"}}';
  expect(parsed(text, { KEY: 'k' }).providers).toMatchObject({ a: { api_key: 'k' }, b: { api_key: 'x' } });
});

test('a single provider is the default one', () => {
  expect(parsed('providers: {a: {type: anthropic}}').providers['a']?.default).toBe(true);
});

test('paths are relative to the file', () => {
  const config = parsed('{agents_dir: ../a, mcp_servers: {s: {command: ./run.sh}, t: {command: node}}}');
  expect(config.agents_dir).toBe(join(directory, '../a'));
  expect(config.mcp_servers).toMatchObject({
    s: { command: join(directory, 'run.sh'), cwd: directory },
    t: { command: 'node' },
  });
});

describe('what ends the start, in one line that names the key', () => {
  test.each([
    ['serverr: {}', 'serverr: unknown key; did you mean "server"?'],
    ['server: {prot: 1}', 'server.prot: unknown key; did you mean "port"?'],
    ['server: {port: 70000}', 'server.port: must be at most 65535'],
    ['limits: {max_concurrent_runs: 0}', 'limits.max_concurrent_runs: must be at least 1'],
    ['providers: {a: {type: chatgpt}}', 'providers.a.type: '],
    ['providers: {a: {type: openai_compatible}}', 'providers.a.base_url: required'],
    ['providers: {a: {type: demo, default: true}, b: {type: demo, default: true}}', 'providers.b.default: '],
    ['mcp_servers: {a: {}}', 'mcp_servers.a: needs one of'],
    ['mcp_servers: {a: {command: x, shell: true}}', 'mcp_servers.a.shell: unknown key'],
    ['mcp_servers: {a: {command: x, arg: [y]}}', 'mcp_servers.a.arg: unknown key; did you mean "args"?'],
    ['mcp_servers: {a: {command: 1}}', 'mcp_servers.a.command: expected string, received number'],
    ['mcp_servers: {a: {command: x, cwd: /nowhere}}', 'mcp_servers.a.cwd: no such directory'],
    [
      'isolation_hide: [/usr]\nmcp_servers: {a: {command: x, cwd: /usr/bin}}',
      'mcp_servers.a.cwd: isolation_hide empties /usr/bin',
    ],
    ['mcp_servers: {"a/b": {command: x}}', 'mcp_servers.a/b: '],
    [
      'mcp_servers: {a: {command: x, tools_hash: 67F5AC1D1B84}}',
      'mcp_servers.a.tools_hash: must be 64 hexadecimal digits, as GET /mcp/servers shows them',
    ],
    ['mcp_servers: {a: {url: "https://x", ca: nowhere.pem}}', 'mcp_servers.a.ca: cannot read'],
    [
      'mcp_servers: {a: {url: "https://x", oauth: {issuer: "https://i", client_id: c, client_secret: "${UNSET}"}}}',
      'mcp_servers.a.oauth.client_secret: ',
    ],
    [
      'mcp_servers: {a: {url: "https://x", headers: {Authorization: y}, oauth: {issuer: "https://i", client_id: c, client_secret: s}}}',
      'mcp_servers.a.headers.authorization: is what oauth provides',
    ],
    ['mcp_servers: {a: {command: x, timeout_seconds: 0}}', 'mcp_servers.a.timeout_seconds: '],
    [
      'mcp_servers: {a: {command: x, timeout_seconds: 60, max_timeout_seconds: 59}}',
      'mcp_servers.a.max_timeout_seconds: must be at least the timeout, 60',
    ],
    [
      'mcp_servers: {a: {url: "http://x", max_timeout_seconds: 29}}',
      'mcp_servers.a.max_timeout_seconds: must be at least the timeout, 30',
    ],
    ['mcp_servers: {a: {image: x, port: 1, env: {K: "${SECRET}"}}}', 'mcp_servers.a.env.K: '],
    ['mcp_servers: {a: {image: x, port: 1, args: ["-t", "${SECRET}"]}}', 'mcp_servers.a.args.1: '],
    ['mcp_servers: {a: {image: x, port: 1, command: run}}', 'mcp_servers.a.command: '],
    ['mcp_servers: {a: {image: x, port: 1, volumes: [{mount_path: /x}]}}', 'needs exactly one of emptyDir'],
    ['tool_policy: {rules: [{deny: {tool: x}}]}', 'tool_policy.rules[0]: a deny rule needs a reason'],
    [
      'tool_policy: {rules: [{deny: {tool: x}, allow: {tool: x}, reason: r}]}',
      'tool_policy.rules[0]: needs exactly one',
    ],
    ['tool_policy: {rules: [{deny: {}, reason: r}]}', 'tool_policy.rules[0].deny: '],
    ['tool_policy: {rules: [{deny: {tols: x}, reason: r}]}', 'tool_policy.rules[0].deny.tols: unknown key'],
    ['tool_policy: {default: ask}', 'tool_policy.default: '],
    ['managed_dir: /nowhere', 'managed_dir: no such directory'],
    ['server: {tls: {cert: a, key: b}}', 'server.tls.cert: cannot read'],
    ['a: [', 'line 1, column '],
    ['a: 1\na: 2', 'key "a" is given twice'],
    ['- a', 'the file: '],
  ])('%s', (text, message) => {
    const loaded = parseConfig(text, directory, {});
    expect(loaded.ok ? 'accepted' : loaded.message).toContain(message);
    expect(loaded.ok ? '' : loaded.message).not.toContain('\n');
  });

  test('the file is named', () => {
    const file = join(directory, 'gateway.yaml');
    writeFileSync(file, 'server: {prot: 1}');
    expect(loadConfig(file, {})).toEqual({
      ok: false,
      message: `${file}: server.prot: unknown key; did you mean "port"?`,
    });
  });

  test('a file that is not there', () => {
    expect(loadConfig('/nowhere/gateway.yaml', {})).toMatchObject({
      ok: false,
      message: expect.stringContaining('--config'),
    });
  });
});
