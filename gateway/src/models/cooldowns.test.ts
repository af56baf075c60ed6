import { beforeEach, expect, test } from 'vitest';
import { Cooldowns } from './cooldowns.ts';

const MODEL = { provider: 'house', model: 'm-1' };
const SIBLING = { provider: 'house', model: 'm-2' };

let now: number;
let heard: string[];
let cooldowns: Cooldowns;
beforeEach(() => {
  now = 1;
  heard = [];
  cooldowns = new Cooldowns({
    ruleOf: () => ({ failures: 3, seconds: 30 }),
    now: () => now,
    onRest: ({ model }) => heard.push(`${model} rests`),
    onRecovered: ({ model }) => heard.push(`${model} answers`),
  });
});

function ask(outcome: 'answered' | 'failed' | 'unknown', model = MODEL): void {
  cooldowns.begin(model);
  cooldowns.end(model, outcome);
}

function failThreeTimes(): void {
  for (let n = 0; n < 3; n++) ask('failed');
}

test('a model rests after so many failures in a row, and no other model of its provider', () => {
  ask('failed');
  ask('failed');
  ask('answered');
  ask('failed');
  ask('failed');
  expect(cooldowns.rests(MODEL)).toBe(false);
  ask('failed');
  expect([cooldowns.rests(MODEL), cooldowns.rests(SIBLING)]).toEqual([true, false]);
  expect(heard).toEqual(['m-1 rests']);
});

test('after its rest one request probes it while it rests for all others', () => {
  failThreeTimes();
  now += 29_999;
  expect(cooldowns.rests(MODEL)).toBe(true);
  now += 1;
  expect(cooldowns.rests(MODEL)).toBe(false);
  cooldowns.begin(MODEL);
  now += 3_600_000;
  expect(cooldowns.rests(MODEL)).toBe(true);
  cooldowns.end(MODEL, 'answered');
  expect(cooldowns.rests(MODEL)).toBe(false);
  expect(heard).toEqual(['m-1 rests', 'm-1 answers']);
});

test('a probe that fails begins the rest again, and one that is given up leaves it to the next request', () => {
  failThreeTimes();
  now += 30_000;
  ask('failed');
  expect(cooldowns.rests(MODEL)).toBe(true);
  now += 30_000;
  ask('unknown');
  expect(cooldowns.rests(MODEL)).toBe(false);
  cooldowns.begin(MODEL);
  expect(cooldowns.rests(MODEL)).toBe(true);
  expect(heard).toEqual(['m-1 rests']);
});

test('callers who invent models push nothing but old failures out', () => {
  failThreeTimes();
  for (let n = 0; n < 999; n++) ask('failed', { provider: 'house', model: `invented-${n}` });
  expect(cooldowns.rests(MODEL)).toBe(true);
  ask('failed', { provider: 'house', model: 'one more' });
  expect(cooldowns.rests(MODEL)).toBe(false);
});
