import { compileMatch, type Standing } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { LoadedPipeline, Snapshot } from '../definitions/snapshot.ts';
import type { TriggerContext } from '../runs/state/model.ts';
import { createPatternTurns } from './pattern-turns.ts';
import { resolve } from './resolve.ts';

const OPERATOR: Standing = { namespace: null, admitted: true, tenant: null };
const loaded = (
  name: string,
  match: Record<string, unknown> | null,
  more: Partial<Pick<LoadedPipeline, 'standing' | 'admission'>> = {},
): LoadedPipeline =>
  ({ name, match: match && compileMatch(match), standing: OPERATOR, ...more }) as unknown as LoadedPipeline;

function snapshot(...pipelines: LoadedPipeline[]): Snapshot {
  const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]));
  return { pipelines, byName, steps: [], stepsByName: new Map(), problems: [], shown: [], hash: '', loadedAt: 0 };
}

const context = (more: Partial<TriggerContext> = {}): TriggerContext => ({
  source: 'alert_router',
  pipeline: null,
  severity: 'critical',
  labels: { service: 'checkout' },
  annotations: {},
  summary: null,
  fingerprint: null,
  metadata: {},
  raw: null,
  receivedAt: 0,
  ...more,
});
const asking = () => ({ team: null, byPerson: false, turns: createPatternTurns() });
const chosen = async (set: Snapshot, asked: TriggerContext, team: string | null = null) => {
  const found = await resolve(set, asked, { ...asking(), team });
  return found.ok ? found.pipeline.name : null;
};

test('the first pipeline in load order whose trigger.match holds wins', async () => {
  const special = loaded('special', { service: 'checkout', severity: 'critical' });
  const general = loaded('general', { service: 'checkout' });
  expect(await chosen(snapshot(special, general), context())).toBe('special');
  expect(await chosen(snapshot(general, special), context())).toBe('general');
  expect(await chosen(snapshot(special, general), context({ severity: 'info' }))).toBe('general');
});

test('a context that names its pipeline bypasses matching, and an unknown name does not fall back to it', async () => {
  const set = snapshot(loaded('matching', { service: 'checkout' }), loaded('named', null));
  expect(await chosen(set, context({ pipeline: 'named' }))).toBe('named');
  expect(await chosen(set, context({ pipeline: 'gone' }))).toBeNull();
});

test('a refusal tells a pipeline that nobody wrote from one that is broken, and what to do where nothing matches', async () => {
  const problem = { severity: 'error' as const, kind: 'Pipeline' as const, file: 'f.yaml', loc: [], msg: 'bad' };
  const set = { ...snapshot(), problems: [{ ...problem, name: 'broken', reason: 'invalid' as const }] };
  const why = async (pipeline: string | null) => {
    const found = await resolve(set, context({ pipeline }), asking());
    return found.ok ? '' : found.message;
  };
  expect(await why('gone')).toBe('no pipeline is named "gone"');
  expect(await why('broken')).toBe('pipeline "broken" did not load; GET /definitions says why');
  expect(await why(null)).toMatch(/^no pipeline matches this delivery; .*dry_run=true/);
});

test('a pipeline without a match is never chosen by matching', async () => {
  expect(await chosen(snapshot(loaded('plain', null)), context())).toBeNull();
});

test('a match may ask for the team of the token', async () => {
  const set = snapshot(loaded('theirs', { team: 'shop' }));
  expect(await chosen(set, context(), 'shop')).toBe('theirs');
  expect(await chosen(set, context(), null)).toBeNull();
});

/** Fifteen hundred instructions, on every character. */
const SLOW = '.{0,300}[qr].{0,300}[st]';
const summary = 'ab'.repeat(500);

test('patterns that take long are compared in turns, which others get between', async () => {
  const set = snapshot(...Array.from({ length: 20 }, (_, at) => loaded(`slow-${at}`, { summary: { regex: SLOW } })));
  let others = 0;
  let done = false;
  const count = () => {
    others += 1;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all([chosen(set, context({ summary })), chosen(set, context({ summary }))]);
  done = true;
  expect(others).toBeGreaterThanOrEqual(40);
});

/** Rules that hold, and one that does not. */
const rules = (many: number) => ({
  ...Object.fromEntries(Array.from({ length: many - 1 }, (_, at) => [`a${at}`, null])),
  b: 1,
});
const counting = () => {
  let rests = 0;
  const turns = createPatternTurns();
  return { turns: { ...turns, rest: () => (rests++, turns.rest()) }, rests: () => rests };
};

test('one alert is compared with small pipelines at once, and with many rules in turns', async () => {
  const few = snapshot(...Array.from({ length: 30 }, (_, at) => loaded(`few-${at}`, rules(8))));
  const many = snapshot(...Array.from({ length: 1000 }, (_, at) => loaded(`many-${at}`, rules(64))));
  const { turns, rests } = counting();
  await resolve(few, context(), { ...asking(), turns });
  expect(rests()).toBe(0);
  await resolve(many, context(), { ...asking(), turns });
  expect(rests()).toBe(6);
});

test('rules without a pattern count towards the share of a namespace, where it gets the alert', async () => {
  const tenant = { standing: { namespace: 'shop', admitted: true, tenant: {} } as Standing };
  const turns = createPatternTurns();
  expect(turns.spend(tenant, 99_999_990)).toBe(true);
  const set = snapshot(
    loaded('unlisted', rules(64), { standing: { namespace: 'dev', admitted: false, tenant: null } }),
    loaded('elsewhere', rules(64), { ...tenant, admission: compileMatch({ service: 'search' }) }),
    loaded('last', { service: 'search' }, tenant),
    loaded('greedy', { service: 'checkout' }, tenant),
    loaded('mine', { service: 'checkout' }),
  );
  const noted: unknown[] = [];
  const found = await resolve(set, context(), { ...asking(), turns, onTooLong: (one) => noted.push(one) });
  expect(found).toMatchObject({ ok: true, pipeline: { name: 'mine' } });
  expect(noted).toEqual([{ pipeline: 'greedy', key: 'the delivery with the rules of the namespace' }]);
});

test('patterns are compared only where the other rules hold and the namespace gets the alert', async () => {
  const not = { admission: compileMatch({ service: 'search' }) };
  const neither = { admission: compileMatch({ service: { regex: '^search' } }) };
  const set = snapshot(
    loaded('other', { service: 'search', summary: { regex: SLOW } }),
    loaded('theirs', { summary: { regex: SLOW } }, not),
    loaded('nobodys', {}, neither),
  );
  const taken: number[] = [];
  const turns = { ...createPatternTurns(), take: async (_: unknown, work: number) => taken.push(work) > 0 };
  expect(await resolve(set, context({ summary }), { ...asking(), turns })).toMatchObject({ ok: false });
  expect(taken).toEqual([]);
});

test('the patterns of a namespace have a share of a delivery; those of the operator and of other namespaces are compared all the same', async () => {
  const standing = (namespace: string) => ({ standing: { namespace, admitted: true, tenant: {} } as Standing });
  const rule = { summary: { regex: SLOW } };
  const turns = createPatternTurns();
  for (let work = 0; work < 50; work++) expect(await turns.take(standing('greedy'), 2_000_000)).toBe(true);
  const set = snapshot(
    loaded('greedy', rule, standing('greedy')),
    loaded('mine', { summary: { regex: 'b$' } }, standing('shop')),
  );
  const noted: unknown[] = [];
  const found = await resolve(set, context({ summary }), { ...asking(), turns, onTooLong: (one) => noted.push(one) });
  expect(found).toMatchObject({ ok: true, pipeline: { name: 'mine' } });
  expect(noted).toEqual([{ pipeline: 'greedy', key: 'the delivery with the rules of the namespace' }]);
  expect(await turns.take({ standing: OPERATOR }, 2_000_000)).toBe(true);
});
