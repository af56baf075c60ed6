import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sources } from './index.ts';
import type { Parsed } from './source.ts';

const parse = (source: string, body: unknown, strategy: string | null = null): Parsed => {
  const parser = sources.get(source);
  if (!parser) throw new Error(`no source ${source}`);
  return parser.parse(body, { strategy, receivedAt: 5 });
};
const contexts = (parsed: Parsed) => (parsed.ok ? parsed.contexts : []);

const alert = (labels: Record<string, string>, more: object = {}) => ({
  status: 'firing',
  labels,
  annotations: {},
  fingerprint: 'f1',
  ...more,
});
const group = (...alerts: object[]) => ({
  version: '4',
  groupKey: '{}:{alertname="A"}',
  status: 'firing',
  commonLabels: { team: 'x', severity: 'warning' },
  commonAnnotations: { summary: 'all of them' },
  externalURL: 'http://am',
  alerts,
});

test('a generic payload becomes a context whose key is the idempotency key', () => {
  const body = { pipeline: 'p', event: 'deploy', summary: 's', idempotency_key: 'k', data: { a: 1 }, extra: true };
  const [context] = contexts(parse('generic', body));
  expect(context).toMatchObject({
    source: 'generic',
    pipeline: 'p',
    labels: { event: 'deploy' },
    summary: 's',
    fingerprint: 'k',
    metadata: { a: 1 },
    raw: body,
  });
  expect(contexts(parse('generic', { ...body, source: 'ci' }))[0]).toMatchObject({ source: 'ci' });
});

test.each([
  [{ severity: 'critical', labels: { service: 'db', shard: 3 } }, 'critical', { service: 'db', shard: '3' }],
  [{ event: 'deploy', labels: { event: 'other', service: 'db' } }, null, { event: 'deploy', service: 'db' }],
  [{ severity: 3, labels: ['db'] }, null, {}],
  [{ severity: '', labels: { service: { name: 'db' } } }, null, {}],
  [{ severity: null, labels: null }, null, {}],
])('a generic payload with %j has severity %j and labels %j', (more, severity, labels) => {
  expect(contexts(parse('generic', { pipeline: 'p', ...more }))[0]).toMatchObject({ severity, labels });
});

test('without an idempotency key, or with an empty one, a generic payload has no fingerprint', () => {
  expect(contexts(parse('generic', { pipeline: 'p' }))[0]?.fingerprint).toBeNull();
  expect(contexts(parse('generic', { pipeline: 'p', idempotency_key: '' }))[0]?.fingerprint).toBeNull();
});

test.each([
  [null],
  [[]],
  ['text'],
  [{}],
  [{ pipeline: '../x' }],
  [{ pipeline: 'p', data: [] }],
  [{ pipeline: 'p', summary: 3 }],
])('a malformed generic payload is refused with its place: %j', (body) => {
  const parsed = parse('generic', body);
  expect(parsed.ok).toBe(false);
  expect(parsed).toHaveProperty('errors.0.loc.0', 'body');
});

test('the most severe firing alert speaks for its group', () => {
  const body = group(
    alert({ severity: 'info' }),
    alert({ severity: 'critical' }, { fingerprint: 'f2', status: 'resolved' }),
    alert({ severity: 'warning' }, { fingerprint: 'f3' }),
  );
  const [context] = contexts(parse('alert_router', body));
  expect(context).toMatchObject({
    severity: 'warning',
    fingerprint: 'f3:firing',
    summary: 'all of them',
    metadata: { alert_count: 3 },
  });
});

test('common_labels takes the group and its key', () => {
  const [context] = contexts(parse('alert_router', group(alert({ severity: 'critical' })), 'common_labels'));
  expect(context).toMatchObject({
    severity: 'warning',
    labels: { team: 'x' },
    fingerprint: '{}:{alertname="A"}:firing',
  });
});

test('per_alert gives a context an alert', () => {
  const parsed = parse('alert_router', group(alert({ a: '1' }), alert({ a: '2' }, { fingerprint: 'f2' })), 'per_alert');
  expect(contexts(parsed).map(({ fingerprint }) => fingerprint)).toEqual(['f1:firing', 'f2:firing']);
});

test('a resolve has another fingerprint than its firing', () => {
  const [firing] = contexts(parse('alert_router', group(alert({}))));
  const [resolved] = contexts(parse('alert_router', group(alert({}, { status: 'resolved' }))));
  expect(firing?.fingerprint).not.toBe(resolved?.fingerprint);
});

test('without a fingerprint the labels make one, in whatever order they come', () => {
  const one = contexts(parse('alert_router', group({ labels: { a: '1', b: '2' } })))[0];
  const two = contexts(parse('alert_router', group({ labels: { b: '2', a: '1' } })))[0];
  expect(one?.fingerprint).toMatch(/^[0-9a-f]{12}:firing$/);
  expect(two?.fingerprint).toBe(one?.fingerprint);
});

test('a label named pipeline names the pipeline', () => {
  expect(contexts(parse('alert_router', group(alert({ pipeline: 'mine' }))))[0]?.pipeline).toBe('mine');
});

test('an unknown strategy is refused', () => {
  expect(parse('alert_router', group(alert({})), 'loudest')).toMatchObject({
    ok: false,
    errors: [{ loc: ['query', 'strategy'] }],
  });
});

test('more labels, annotations or alerts than the bounds are refused with their place', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
  expect(parse('alert_router', group(alert(many(64)))).ok).toBe(true);
  expect(parse('alert_router', group(alert(many(65))))).toMatchObject({
    ok: false,
    errors: [{ loc: ['body', 'alerts', 0, 'labels'], msg: 'has more than 64 keys' }],
  });
  expect(parse('alert_router', group(alert({}, { annotations: many(65) })))).toMatchObject({
    errors: [{ loc: ['body', 'alerts', 0, 'annotations'] }],
  });
  expect(parse('alert_router', group(...Array.from({ length: 1001 }, () => alert({}))))).toMatchObject({
    errors: [{ loc: ['body', 'alerts'] }],
  });
});

test('per_alert refuses alerts that would repeat more than 16 MiB of what they have in common', () => {
  const dump = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`k${index}`, 'x'.repeat(5000)]));
  const alerts = (count: number) => Array.from({ length: count }, (_, index) => alert({ index: `${index}` }));
  const parsed = (count: number, common: object, strategy = 'per_alert') =>
    parse('alert_router', { ...group(...alerts(count)), ...common }, strategy);
  expect(parsed(22, { commonAnnotations: dump })).toMatchObject({
    ok: false,
    message: expect.stringMatching(/^strategy per_alert: .* the 22 alerts have in common take more than 16 MiB/),
  });
  expect(parsed(21, { commonAnnotations: dump })).toMatchObject({ ok: true });
  expect(parsed(13, { commonAnnotations: dump, groupLabels: dump, commonLabels: dump })).toMatchObject({ ok: false });
  // A text of any length counts for what is kept of it.
  expect(parsed(600, { commonAnnotations: { dump: 'x'.repeat(900_000) } })).toMatchObject({ ok: true });
  expect(parsed(1000, { commonAnnotations: dump }, 'most_severe')).toMatchObject({ ok: true });
  expect(parsed(1, { commonAnnotations: dump, groupLabels: dump, commonLabels: dump })).toMatchObject({ ok: true });
});

test('what is no map of texts is refused by one problem each, of which the first are said', () => {
  const wrong = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${index}`, []]));
  const parsed = parse(
    'alert_router',
    group(...Array.from({ length: 1000 }, () => ({ labels: wrong, annotations: wrong }))),
  );
  expect(parsed).toMatchObject({
    ok: false,
    message: 'no payload of alert_router: body.alerts.0.labels: has no text under "k0"',
    errors: expect.arrayContaining([{ loc: ['body', 'alerts', 49, 'annotations'], msg: 'has no text under "k0"' }]),
  });
  expect(parsed.ok ? 0 : parsed.errors.length).toBe(100);
});

test.each(['generic', 'alert_router'])('labels without end take no time of %s', (source) => {
  const labels = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [index.toString(36), []]));
  const body = { pipeline: 'p', ...group({ labels }), labels };
  const before = process.threadCpuUsage();
  parse(source, body);
  expect(process.threadCpuUsage(before).user).toBeLessThan(700_000);
});

test('no payload makes a parser throw', () => {
  fc.assert(
    fc.property(fc.constantFrom(...sources.keys()), fc.jsonValue(), (source, body) => {
      expect(typeof parse(source, body).ok).toBe('boolean');
    }),
  );
});
