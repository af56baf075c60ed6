import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../config/load.ts';
import { createLog } from '../observability/log.ts';
import { findProgram, sandboxProblem } from '../tools/sandbox.ts';
import { openIsolation } from './isolation.ts';

const [unshare, mount] = ['unshare', 'mount'].map((name) => findProgram(name, undefined) ?? name) as [string, string];
const reason = await sandboxProblem({ unshare, mount, hidden: [], pinned: [], readOnly: [], hostProcesses: false });
const isPossible = reason === null;

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'hidden-'));
  mkdirSync(at('agents'));
  mkdirSync(at('server'));
  writeFileSync(at('server/own'), 'what the server reads');
});
afterEach(() => rmSync(scratch, { recursive: true }));
const at = (path: string) => join(scratch, path);

/** What a start of the gateway decides about its servers, of which one is called `one`. */
async function open(settings: object = {}, one: object = {}, path = process.env['PATH'] ?? '') {
  const servers = { one: { command: 'none', ...one } };
  writeFileSync(at('gateway.yaml'), JSON.stringify({ ...settings, mcp_servers: servers }));
  const loaded = readConfig(at('gateway.yaml'));
  if (!loaded.ok) throw new Error(loaded.message);
  const { config } = loaded;
  const log = createLog('error');
  const baseEnvironment = { PATH: path, HOME: scratch };
  return openIsolation({ config, configPath: at('gateway.yaml'), baseEnvironment, environmentShown: null, log });
}

type Opened = Extract<Awaited<ReturnType<typeof open>>, { ok: true }>;
async function opened(...args: Parameters<typeof open>): Promise<Opened> {
  const isolation = await open(...args);
  if (!isolation.ok) throw new Error(isolation.message);
  expect(isolation.of('one').kind).toBe('namespace');
  return isolation;
}

/** What a server that does this says. Where it says something and then reads stdin, `meanwhile` is done before that ends. */
function runs(isolation: Opened, script: string, meanwhile = () => {}): Promise<string> {
  const spec = { command: '/bin/sh', args: ['-c', script], env: {}, secrets: [], memoryLimitBytes: 0, cwd: undefined };
  const { command, args } = isolation.of('one').isolate(spec);
  return new Promise((resolve) => {
    const server = execFile(command, args, { cwd: '/' }, (_, stdout, stderr) => resolve(stdout + stderr));
    server.stdout?.once('data', () => {
      meanwhile();
      server.stdin?.end();
    });
  });
}

describe.runIf(isPossible).each(['auto', 'require'])('with isolation: %s', (isolation) => {
  test.each([
    ['runner-signing-key.pem', '/proc/self/fd/1'],
    ['device-auth.json', 'server'],
    ['missing', '/proc/self/fd/1'],
    ['missing', 'server'],
  ])(
    'a server that makes of %s a link to %s changes no other server, and the next start names it',
    async (path, to) => {
      const target = to.startsWith('/') ? to : at(to);
      const settings = { identity_dir: '.', isolation_hide: ['missing'] };
      const before = await opened(settings, { isolation });
      expect(await runs(before, `ln -s ${target} ${at(path)} && echo planted`)).toBe('planted\n');
      expect(await runs(before, `cat ${at('server/own')}`)).toBe('what the server reads');
      expect(await open(settings, { isolation })).toEqual({
        ok: false,
        message: `${at(path)}: is a link that a tool server may have made; delete it, or name what it leads to`,
      });
      rmSync(at(path));
      await opened(settings, { isolation });
    },
  );

  test('where nothing can be mounted on one path the gateway does not start', async () => {
    mkdirSync(at('bin'));
    const refuses = `#!/bin/sh
      case "$*" in *agents*) echo "mount: ${at('agents')}: refused" >&2; exit 32;; esac
      exec ${mount} "$@"`;
    writeFileSync(at('bin/mount'), refuses, { mode: 0o755 });
    const message = `isolation of tool servers: mount: ${at('agents')}: refused`;
    expect(await open({}, { isolation }, at('bin'))).toEqual({ ok: false, message });
  });
});

test.runIf(isPossible).each([
  ['makes the file of tokens that the operator removed', 'echo mine > identity/device-auth.json'],
  [
    'has a file of its own wait for the next tokens',
    'echo mine > identity/own; ln identity/own identity/device-auth.json.new',
  ],
])('a server that %s leaves nothing there', async (_, script) => {
  const isolation = await opened();
  await runs(isolation, `cd ${scratch}; ${script}`);
  expect(readdirSync(at('identity'))).toEqual([]);
});

test.runIf(isPossible)(
  'where the folder of tokens is that of everything, a server writes in it all the same',
  async () => {
    const isolation = await opened({ identity_dir: '.' });
    await runs(isolation, `echo its > ${at('server/own')}`);
    expect(readFileSync(at('server/own'), 'utf8')).toBe('its\n');
  },
);

test.runIf(isPossible)('a folder of tokens that is missing is made, and no server replaces it', async () => {
  const isolation = await opened({ identity_dir: 'deep/identity' });
  await runs(isolation, `mv ${at('deep/identity')} ${at('deep/old')}; mv ${at('deep')} ${at('old')}`);
  expect(readdirSync(at('deep'))).toEqual(['identity']);
});

test.runIf(isPossible).each([
  [{}, 'home'],
  [{ HOME: 'chosen' }, undefined],
])('a server with the environment %j has its home in %s and its temporary files in home/tmp', async (env, home) => {
  const isolation = await opened({}, { env });
  const spec = { command: 'none', args: [], secrets: [], memoryLimitBytes: 0, cwd: undefined };
  const { HOME, TMPDIR } = isolation.of('one').isolate({ ...spec, env: { HOME: scratch, TMPDIR: '/tmp', ...env } }).env;
  const own = at(`.signalbox-${process.getuid?.()}`);
  expect([HOME, TMPDIR]).toEqual([home === undefined ? 'chosen' : join(own, home), join(own, 'home/tmp')]);
});

describe.runIf(isPossible)('a TLS key that is renewed while a server runs', () => {
  const tls = (folder: string) => ({ cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') });
  const keyAfter = (isolation: Opened, key: string, renew: () => void) =>
    runs(isolation, `echo runs; cat; cat ${at(key)}`, renew);
  const write = (folder: string, text: string) => {
    mkdirSync(at(folder), { recursive: true });
    for (const file of ['tls.crt', 'tls.key']) writeFileSync(at(join(folder, file)), text);
  };

  test('is not read by it where a file takes the place of the other', async () => {
    write('tls', 'OLD');
    const isolation = await opened({ server: { tls: tls('tls') } });
    expect(isolation.warnings).toEqual([]);
    const said = await keyAfter(isolation, 'tls/tls.key', () => {
      writeFileSync(at('tls/new.key'), 'NEW');
      renameSync(at('tls/new.key'), at('tls/tls.key'));
    });
    expect(readFileSync(at('tls/tls.key'), 'utf8')).toBe('NEW');
    expect(said).toContain('No such file');
  });

  test('is not read by it where links lead to another folder, as on Kubernetes', async () => {
    write('tls/..one', 'OLD');
    symlinkSync('..one', at('tls/..data'));
    for (const file of ['tls.crt', 'tls.key']) symlinkSync(`..data/${file}`, at(`tls/${file}`));
    const said = await keyAfter(await opened({ server: { tls: tls('tls') } }), 'tls/tls.key', () => {
      write('tls/..two', 'NEW');
      symlinkSync('..two', at('tls/..data_tmp'));
      renameSync(at('tls/..data_tmp'), at('tls/..data'));
    });
    expect(readFileSync(at('tls/tls.key'), 'utf8')).toBe('NEW');
    expect(said).toContain('No such file');
  });

  test('is not read by it where the folder of links is not that of the files, as of certbot', async () => {
    write('archive', 'OLD');
    mkdirSync(at('live'));
    for (const file of ['tls.crt', 'tls.key']) symlinkSync(`../archive/${file}`, at(`live/${file}`));
    const isolation = await opened({ server: { tls: tls('live') } });
    const said = await keyAfter(isolation, 'archive/tls2.key', () => writeFileSync(at('archive/tls2.key'), 'NEW'));
    expect(said).toContain('No such file');
  });

  test('is warned of where its folder holds other things, which stay readable', async () => {
    write('tls', 'OLD');
    writeFileSync(at('tls/server.js'), 'what the server reads');
    const isolation = await opened({ server: { tls: tls('tls') } });
    expect(isolation.warnings).toEqual([expect.stringContaining(`can read what replaces ${at('tls/tls.key')}`)]);
    expect(await runs(isolation, `cat ${at('tls/tls.key')} ${at('tls/server.js')}`)).toBe('what the server reads');
  });

  test('is warned of where a server is told of its folder, which stays readable', async () => {
    write('tls', 'OLD');
    const isolation = await opened({ server: { tls: tls('tls') } }, { env: { CA: at('tls/tls.crt') } });
    expect(isolation.warnings).toEqual([expect.stringContaining(`can read what replaces ${at('tls/tls.key')}`)]);
    expect(await runs(isolation, `cat ${at('tls/tls.key')} ${at('tls/tls.crt')}`)).toBe('OLD');
  });
});
