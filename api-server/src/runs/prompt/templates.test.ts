import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { ActiveRun } from '../state/active-run.ts';
import { createTemplates } from './templates.ts';

const compute = { inThread: () => Promise.reject(new Error('no thread was expected')), isBarred: () => false };
const owner = { run: null, share: 'p' };
const runOf = (namespace: string | null) => ({ id: 'r', pipeline: { name: 'p' }, namespace }) as ActiveRun;
const labels = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`label${at}`, 'x'.repeat(100)]));
const templates = createTemplates({ sandbox: true, compute });
const inThread = { ok: true, text: '' } as never;
const inThreads = createTemplates({
  sandbox: true,
  compute: { ...compute, inThread: () => Promise.resolve(inThread) },
});

test.each([
  ['templates', () => templates.render('{{#each labels}}{{#each ../labels}}{{/each}}{{/each}}', { labels }, owner)],
  ['expressions', () => templates.evaluate('labels.all(k, labels.map(j, j).size() > 1)', { labels }, owner)],
  [
    'templates that are compiled',
    (at: number) => templates.render(`{{#if no}}${'{{a}}'.repeat(190)}{{/if}}${at}`, {}, owner),
  ],
  [
    'expressions that are compiled',
    (at: number) => templates.evaluate(`true || ${'1+'.repeat(900)}${at} > 1`, {}, owner),
  ],
  ['keys', (at: number) => templates.compileKey({ key: `${'{{a}}'.repeat(200)}${at}` }, owner)],
])('between many %s that are computed in place others have their turn', async (_what, compute) => {
  let turns = 0;
  const tick = () => {
    turns += 1;
    timer = setImmediate(tick);
  };
  let timer = setImmediate(tick);
  for (let at = 0; at < 200; at++) expect((await compute(at))?.ok).not.toBe(false);
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(5);
});

test('of many that ask for a turn in one moment each leaves time to others before the next one has its', async () => {
  let turns = 0;
  const tick = () => {
    turns += 1;
    timer = setImmediate(tick);
  };
  let timer = setImmediate(tick);
  const work = async () => {
    await templates.turn(runOf(null));
    const began = performance.now();
    while (performance.now() - began < 6);
  };
  await Promise.all(Array.from({ length: 20 }, work));
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(20);
});

test.each([
  ['templates', (values: object) => inThreads.render('{{metadata.data}}', { ...values }, owner)],
  ['expressions', (values: object) => inThreads.evaluate('metadata.data == 1', { ...values }, owner)],
])('what many %s name is looked through once', async (_what, compute) => {
  let looks = 0;
  const large = Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [`key${at}`, at]));
  const data = new Proxy(large, {
    ownKeys: (target) => {
      looks += 1;
      return Reflect.ownKeys(target);
    },
  });
  await compute({ metadata: { data } });
  const first = looks;
  for (let at = 0; at < 10; at++) expect(await compute({ metadata: { data } })).toBe(inThread);
  expect(looks).toBe(first);
});

test('the turn of a run comes after one of a namespace whose branches wait by the hundred', async () => {
  const order: string[] = [];
  const work = async (namespace: string | null) => {
    await templates.turn(runOf(namespace));
    order.push(namespace ?? 'operator');
    const began = performance.now();
    while (performance.now() - began < 2);
  };
  await Promise.all([...Array.from({ length: 100 }, () => work('shop')), work(null), work('pay')]);
  expect(order.slice(0, 6).toSorted()).toEqual(['operator', 'pay', 'shop', 'shop', 'shop', 'shop']);
});

const MIB = 1024 * 1024;
test.each([
  ['templates', 400, 24, (at: number) => templates.renderNow(`${'{{a}}'.repeat(190)}${at}`, {})],
  ['expressions', 120, 12, (at: number) => templates.evaluate(`${'a+'.repeat(900)}${at} == 1`, {}, owner)],
  ['templates of estimates', 5, 1, (at: number) => templates.problemOf(`${'{{a.b}}'.repeat(9000)}${at}`)],
])('so many compiled %s are kept as have room', async (_what, count, mostMib, compile) => {
  await compile(-1);
  const before = heapUsed();
  for (let at = 0; at < count; at++) await compile(at);
  expect((heapUsed() - before) / MIB).toBeLessThan(mostMib);
});

test('a template with many tags is compiled in a thread, or not at all, and a long text with few is not', async () => {
  for (const tags of [
    '{{a}}'.repeat(270),
    '\\{{'.repeat(5_000),
    `{{a}}{{#each a as |${' a'.repeat(800)}|}}{{/each}}`,
  ]) {
    expect(await inThreads.render(tags, {}, owner)).toBe(inThread);
    expect(templates.renderNow(tags, {})).toMatchObject({ reason: 'compute_limit' });
  }
  expect(await templates.render(`${'text. And/or '.repeat(5000)}{{a}}`, {}, owner)).toMatchObject({ ok: true });
});

test('the key of a definition is compiled once, however many others there are, and rendered whatever is in its tags', async () => {
  let looks = 0;
  const keyed = {
    get key() {
      looks += 1;
      return `{{b}}{{#if no}}{{a${'.a'.repeat(490)}}}{{/if}}`;
    },
  };
  await templates.compileKey(keyed, owner);
  for (let at = 0; at < 200; at++) {
    templates.renderKey({ key: `${'{{a}}'.repeat(200)}${at}` }, {}, 500);
    expect(templates.renderKey(keyed, { b: 'x' }, 500)).toMatchObject({ ok: true, text: 'x' });
  }
  expect(looks).toBe(1);
});

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
