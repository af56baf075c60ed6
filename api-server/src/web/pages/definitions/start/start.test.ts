import { expect, test } from 'vitest';
import { compileMatch } from '@signalbox/crds';
import { alertRouter } from '../../../../triggers/sources/alert-router.ts';
import { VIEWER } from '../../fixtures/fake-deps.ts';
import { pagesWith } from '../../fixtures/pages-with.ts';
import { EMPTY, formWith, givenBy } from './form.ts';
import { sampleAlert } from './sample.ts';

const PIPELINE = {
  name: 'host-load',
  file: 'host-load.yaml',
  text: '',
  hash: 'h',
  config: { stage: 'production', trigger: { match: { alertname: 'HighLoad' } }, steps: [] },
};
const definitions = { pipelines: [PIPELINE] };
const PREVIEW = {
  status: 'dry_run' as const,
  pipeline: 'host-load',
  stage: 'production' as const,
  fingerprint: null,
  would: 'accepted' as const,
  reason: null,
  dedup: { duplicate: false, run_id: null },
  context: {},
  prompt: { step: 'look', text: 'Look at db-1', missing: ['labels.pod'], error: null },
  rules: [{ key: 'alertname', rule: 'HighLoad', actual: null, holds: false }],
};
const csrf = { _csrf: VIEWER.csrf };

test('the form opens with a sample alert where the pipeline has rules, and by hand where it is asked for', async () => {
  const { get } = await pagesWith({ definitions });
  const sample = (await get('/ui/pipelines/host-load/run')).body;
  expect(sample).toContain('&quot;alertname&quot;: &quot;HighLoad&quot;');
  expect(sample).not.toContain('value="run"');
  expect((await get('/ui/pipelines/host-load/run?from=hand')).body).toContain('name="summary"');
});

test('a dry run shows the rules and the prompt, keeps the form and offers the run', async () => {
  const { post, deps } = await pagesWith({ definitions, preview: PREVIEW });
  const { body, statusCode } = await post('/ui/pipelines/host-load/run', {
    ...csrf,
    act: 'preview',
    summary: 'Load is high',
    severity: 'critical',
    labels: 'namespace=shop\r\nquery=a=b\r\n',
    data: '{"host": "db-1"}',
  });
  expect(statusCode).toBe(200);
  for (const text of ['Look at db-1', 'This context has no labels.pod', 'alertname &#x3D; HighLoad', 'Does not match'])
    expect(body).toContain(text);
  expect(body).toContain('value="Load is high"');
  expect(body).toContain('value="run"');
  expect(body).toContain('/pipelines/host-load/run&#x27; \\');
  const labels = { namespace: 'shop', query: 'a=b' };
  const given = {
    source: 'generic',
    body: { summary: 'Load is high', severity: 'critical', labels, data: { host: 'db-1' } },
  };
  expect(deps.started).toEqual([{ pipeline: 'host-load', given, dry: true }]);
});

test('a run that was started opens', async () => {
  const { post, deps } = await pagesWith({ definitions });
  const body = '{"alerts": []}';
  const answer = await post('/ui/pipelines/host-load/run', { ...csrf, act: 'run', source: 'alert_router', body });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, '/ui/runs/started']);
  expect(deps.started).toMatchObject([{ given: { source: 'alert_router', body: { alerts: [] } }, dry: false }]);
});

test('a text that is no JSON is said, and nothing starts', async () => {
  const { post, deps } = await pagesWith({ definitions });
  const answer = await post('/ui/pipelines/host-load/run', { ...csrf, act: 'run', data: '{host: 1}' });
  expect([answer.statusCode, deps.started]).toEqual([400, []]);
  expect(answer.body).toContain('This is not JSON');
  expect(givenBy({ ...EMPTY, data: '[1]' })).toMatchObject({ ok: false, field: 'data' });
});

test('the labels of a generic delivery stand in the form as lines, where lines can say them', () => {
  const body = { summary: 'Slow', severity: 'warning', labels: { namespace: 'shop', query: 'a=b' } };
  const form = formWith('generic', body);
  expect(form).toMatchObject({ source: null, severity: 'warning', labels: 'namespace=shop\nquery=a=b' });
  expect(givenBy(form)).toEqual({ ok: true, given: { source: 'generic', body } });
  for (const labels of [{ 'a=b': 'c' }, { a: 'b\nc=d' }])
    expect(givenBy(formWith('generic', { labels }))).toEqual({
      ok: true,
      given: { source: 'generic', body: { labels } },
    });
  expect(givenBy({ ...EMPTY, labels: 'namespace shop' })).toMatchObject({ ok: false, field: 'labels' });
});

test.each([
  ['nested beyond what a body may be', `{"a": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
  ['with a key that reaches a prototype', '{"__proto__": {"a": 1}}'],
])('a text %s is refused as the route refuses it', async (_, data) => {
  const { post, deps } = await pagesWith({ definitions });
  const answer = await post('/ui/pipelines/host-load/run', { ...csrf, act: 'run', data });
  expect([answer.statusCode, deps.started]).toEqual([400, []]);
});

test('viewers start nothing, nor does a form of another session', async () => {
  const { post, get, deps } = await pagesWith({ definitions, viewer: { ...VIEWER, role: 'viewer' } });
  expect((await get('/ui/pipelines/host-load/run')).statusCode).toBe(403);
  expect((await post('/ui/pipelines/host-load/run', { ...csrf, act: 'run' })).statusCode).toBe(403);
  expect((await post('/ui/pipelines/host-load/run', { act: 'run' })).statusCode).toBe(403);
  expect(deps.started).toEqual([]);
});

test('what will fail in the run is said before it', async () => {
  const msg = '${REPORT_URL} is not set in the environment of the api-server';
  const problem = {
    severity: 'warning' as const,
    kind: 'Pipeline' as const,
    name: 'host-load',
    file: 'host-load.yaml',
    loc: [],
    msg,
  };
  const { get } = await pagesWith({ definitions: { ...definitions, problems: [problem] } });
  expect((await get('/ui/pipelines/host-load/run')).body).toContain(msg);
});

test('a pipeline that is not loaded names those that are', async () => {
  const { get } = await pagesWith({ definitions });
  const { statusCode, body } = await get('/ui/pipelines/nosuch/run');
  expect(statusCode).toBe(404);
  expect(body).toContain('Available: host-load.');
});

test.each([
  { alertname: 'HighLoad' },
  { alertname: { regex: '^(Host|Node)HighLoad$' }, severity: { in: ['critical', 'warning'] } },
  { 'labels.namespace': { eq: 'shop' }, 'annotations.runbook': { regex: '^https' } },
  { count: { gt: 3 }, size: { lte: 7 } },
  {},
])('the sample alert of %j matches it', (match) => {
  const parsed = alertRouter.parse(sampleAlert(match), { strategy: null, receivedAt: 0 });
  if (!parsed.ok) throw new Error(parsed.message);
  expect(compileMatch(match).compare(parsed.contexts[0]!)).not.toContainEqual(
    expect.objectContaining({ holds: false }),
  );
});
