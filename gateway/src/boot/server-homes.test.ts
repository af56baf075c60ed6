import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseConfig } from '../config/load.ts';
import { openHomes } from './server-homes.ts';

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'homes-'));
  for (const folder of ['home', 'tmp', 'elsewhere']) mkdirSync(at(folder));
});
afterEach(() => rmSync(scratch, { recursive: true }));
const at = (path: string) => join(scratch, path);

function open(env: Record<string, string>, { configPath = at('gateway.yaml'), settings = {} } = {}) {
  const loaded = parseConfig(JSON.stringify(settings), scratch, {});
  if (!loaded.ok) throw new Error(loaded.message);
  return openHomes(['one'], { config: loaded.config, configPath, baseEnvironment: env });
}

function homeOf(...args: Parameters<typeof open>): string {
  const opened = open(...args);
  if (!opened.ok) throw new Error(opened.message);
  return opened.homes?.of('one')?.from ?? '';
}

test('a server has the same home at each start, which is its user’s alone, and not that of a server of another configuration', () => {
  const home = homeOf({ HOME: at('home') });
  expect(statSync(home).mode & 0o777).toBe(0o700);
  expect(homeOf({ HOME: at('home') })).toBe(home);
  expect(homeOf({ HOME: at('home') }, { configPath: at('other.yaml') })).not.toBe(home);
});

test.each(['', 'home', 'tools', 'own'])(
  'a link at %j in it leads nowhere: the start is refused with its path',
  (link) => {
    const home = homeOf({ HOME: at('home') });
    const path = link === 'own' ? home : resolve(home, '../..', link);
    rmSync(path, { recursive: true });
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(at('elsewhere'), path);
    chmodSync(at('elsewhere'), 0o755);
    expect(open({ HOME: at('home') })).toEqual({ ok: false, message: `${path}: is no folder of this user; delete it` });
    expect(readdirSync(at('elsewhere'))).toEqual([]);
    expect(statSync(at('elsewhere')).mode & 0o777).toBe(0o755);
  },
);

test('a link that a server puts in the place of its own temporary files is left alone', () => {
  const home = homeOf({ HOME: at('home') });
  rmSync(join(home, 'tmp'), { recursive: true });
  symlinkSync(at('elsewhere/new'), join(home, 'tmp'));
  expect(homeOf({ HOME: at('home') })).toBe(home);
  expect(readdirSync(at('elsewhere'))).toEqual([]);
});

test.each([
  ['that does not exist', 'missing', {}],
  ['that servers do not see', 'home', { isolation_hide: ['home'] }],
])('in the place of a home %s are the temporary files', (_, home, settings) => {
  const opened = homeOf({ HOME: at(home), TMPDIR: at('tmp') }, { settings });
  expect(opened.startsWith(at(`tmp/.signalbox-${process.getuid?.()}/tools/one-`))).toBe(true);
});

test('where there is no folder to write in, servers keep the home of their user', () => {
  expect(open({ HOME: '/dev/null', TMPDIR: at('missing') })).toEqual({ ok: true, homes: null });
});
