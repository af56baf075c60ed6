import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

interface Lua {
  to_luastring(text: string): Uint8Array;
  to_jsstring(text: Uint8Array): string;
  lua: { lua_tostring(state: object, index: number): Uint8Array | null };
  lauxlib: { luaL_newstate(): object; luaL_dostring(state: object, code: Uint8Array): number };
  lualib: { luaL_openlibs(state: object): void };
}
const { to_luastring, to_jsstring, lua, lauxlib, lualib } = createRequire(import.meta.url)('fengari') as Lua;

const SCRIPT = readFileSync(join(import.meta.dirname, 'health.lua'), 'utf8');

/** A value as Lua writes it; null is left out, as in Argo CD's tables. */
function literal(value: unknown): string {
  if (typeof value === 'string')
    return `"${[...Buffer.from(value)].map((byte) => `\\${byte.toString().padStart(3, '0')}`).join('')}"`;
  if (typeof value !== 'object' || value === null) return String(value ?? 'nil');
  if (Array.isArray(value)) return `{${value.map(literal).join(',')}}`;
  return `{${Object.entries(value)
    .map(([key, entry]) => `[${literal(key)}]=${literal(entry)}`)
    .join(',')}}`;
}

/** What a real Lua makes of an object. */
function healthOf(object: unknown): { status: string; message: string } {
  const state = lauxlib.luaL_newstate();
  lualib.luaL_openlibs(state);
  const code = `obj = ${literal(object)}\nlocal h = (function() ${SCRIPT}\nend)()\nreturn h.status, h.message`;
  const failed = lauxlib.luaL_dostring(state, to_luastring(code));
  const text = (index: number) => to_jsstring(lua.lua_tostring(state, index) ?? new Uint8Array());
  if (failed !== 0) throw new Error(text(-1));
  return { status: text(-2), message: text(-1) };
}

interface Recorded {
  name: string;
  object: { kind: string; status: { conditions: object[] } };
}
/** Objects as a real API server answered them, cut to what a health check may look at. */
const recorded = parse(readFileSync(join(import.meta.dirname, 'recorded-statuses.yaml'), 'utf8')) as Recorded[];

/** The expected health of each object in Argo CD, and a part of its message. */
const EXPECTED: Readonly<Record<string, readonly [health: string, message: string]>> = {
  'applied a moment ago': ['Progressing', 'waiting for the controller'],
  'a controller without an address of the services': ['Healthy', 'accepted; the controller has no address'],
  'on its way to the replicas': ['Progressing', 'OutOfDate: 1 of 1 replicas'],
  'a replica refuses it': ['Degraded', 'LoadError: 127.0.0.1:8000: the file cannot be read'],
  'accepted and served, whatever the evidence says': ['Healthy', 'served by every replica'],
  'a new edition that was not looked at yet': ['Progressing', 'waiting for the controller'],
  'a broken edition; the last good one is served': ['Degraded', 'Invalid: spec.promt'],
  suspended: ['Suspended', 'no alert'],
  'suspended and broken is broken': ['Degraded', 'NameConflict'],
  'no gateway has said yet which key its pods trust': ['Progressing', 'NoRunnerKey'],
  'its pods start': ['Progressing', 'Starting: 0 of 1 pods'],
  'its pods are there': ['Healthy', 'served by every replica'],
  'its pods do not come up': ['Degraded', 'DeploymentUnavailable: ReplicaSet'],
  'a Service of its name is somebody else’s': ['Degraded', 'NameTaken'],
  'a replica does not answer': ['Progressing', 'Unreachable'],
};

describe('the health of', () => {
  test.each(recorded)('$object.kind: $name', ({ name, object }) => {
    const [health, message] = EXPECTED[name] ?? [];
    const said = healthOf(object);
    expect(said.status).toBe(health);
    expect(said.message).toContain(message);
  });
});

test.each([
  ['False', '; golden set triage: 2 of 4 members regressed'],
  ['True', ''],
  ['Unknown', ''],
])('RegressionFree=%s leaves an object healthy, with the message%s', (status, added) => {
  const object = structuredClone(recorded.find(({ name }) => name.startsWith('accepted and served'))?.object);
  const before = healthOf(object);
  const message = 'golden set triage: 2 of 4 members regressed';
  object?.status.conditions.push({ type: 'RegressionFree', status, message });
  expect(healthOf(object)).toEqual({ status: 'Healthy', message: `${before.message}${added}` });
});

test('every state is among the records, every health that Argo CD knows for such objects, and every kind', () => {
  expect(recorded.map(({ name }) => name).toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
  expect(new Set(recorded.map(({ object }) => healthOf(object).status))).toEqual(
    new Set(['Progressing', 'Healthy', 'Degraded', 'Suspended']),
  );
  expect(new Set(recorded.map(({ object }) => object.kind))).toEqual(new Set(['Pipeline', 'LibraryStep', 'Agent']));
});

test('Argo CD is given the script for each of the three kinds', () => {
  const { data } = parse(readFileSync(join(import.meta.dirname, 'argocd-cm.yaml'), 'utf8')) as {
    data: Record<string, string>;
  };
  expect(Object.keys(data)).toEqual(
    ['Pipeline', 'LibraryStep', 'Agent'].map((kind) => `resource.customizations.health.signalbox.dev_${kind}`),
  );
  for (const script of Object.values(data)) expect(script).toBe(SCRIPT);
});
