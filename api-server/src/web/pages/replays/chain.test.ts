import { AppError, Pipeline } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { promptVersions } from '../../../analytics/prompt-versions.ts';
import { promptVersionView } from '../../../service/views/analytics/versions.ts';
import { VIEWER } from '../fixtures/fake-deps.ts';
import { pagesWith } from '../fixtures/pages-with.ts';
import { readinessReport } from '../fixtures/readiness.ts';
import { chainReport, chainRun, replayBatch, replayEstimate, replayRow } from '../fixtures/replays.ts';
import { HOSTILE, runDetail } from '../fixtures/runs.ts';

const TEMPLATE = 'Plan for {{steps.triage.summary}}.\nBe brief.\n';
const agent = (name: string, template: string) => ({
  name,
  executor: 'gateway',
  agent: 'first-line-triage',
  prompt_template: template,
});
const CHECKOUT = {
  name: 'checkout',
  file: 'checkout.yaml',
  text: '',
  hash: 'h',
  config: Pipeline.parse({
    name: 'checkout',
    steps: [
      agent('triage', 'Look at {{summary}}.'),
      { name: 'tell', executor: 'webhook', url: 'http://127.0.0.1:9/tell' },
      agent('plan', TEMPLATE),
      { name: 'group', parallel: { steps: [agent('last', 'last')] } },
    ],
  }),
};
const world = { definitions: { pipelines: [CHECKOUT] }, readiness: readinessReport([]) };
const PIPELINE = '/ui/replays/range?pipeline=checkout';
const FORM = { _csrf: VIEWER.csrf, key: 'k', pipeline: 'checkout', from_step: 'triage', to_step: 'plan', k: '20' };

test('what a replay is of is said beside each choice', async () => {
  const { get } = await pagesWith({ ...world });
  const { body } = await get('/ui/replays');
  const choices = [...body.matchAll(/<label class="replay-of">(\w+)\s+<span class="select"><select name="(\w+)">/g)];
  expect(choices.map(([, label, name]) => [label, name])).toEqual([
    ['Step', 'step'],
    ['Pipeline', 'pipeline'],
  ]);
});

test('a pipeline and the list of replays lead to the form of a range', async () => {
  const { get } = await pagesWith(world);
  expect((await get('/ui/pipelines/checkout')).body).toContain('href="/ui/replays/range?pipeline&#x3D;checkout"');
  expect((await get('/ui/replays')).body).toContain('<option value="checkout">checkout</option>');
  expect((await get('/ui/replays/range?pipeline=other')).headers.location).toBe('/ui/replays');
});

test('the form offers the widest range without a group, says what is not executed, and tells the cost', async () => {
  const { get } = await pagesWith(world);
  const { body } = await get(PIPELINE);
  expect(body).toContain('<option value="triage" selected>triage</option>');
  expect(body).toContain('<option value="plan" selected>plan</option>');
  expect(body).toContain('<option value="tell">tell (webhook, answered from the record)</option>');
  expect(body).not.toContain('<option value="group"');
  expect(body).toContain('is not executed: this webhook step answers what was recorded');
  expect(body).toContain('About $0.16');
  expect(body).toContain('2 recorded runs, 2 questions each');
  expect(body).toContain('Nothing is changed');
  expect(body).toContain(`spellcheck="false">\n${TEMPLATE}</textarea>`);
});

test('only a range that would start can be started', async () => {
  const starts = async (given: object, url: string) =>
    /value="start"( disabled)?>/.exec((await (await pagesWith(given)).get(url)).body)?.[1] === undefined;
  const noReplay = new AppError('unprocessable', 'no recorded run executed every step of the range');
  for (const url of [PIPELINE, '/ui/replays/new?step=triage']) {
    expect([url, await starts(world, url)]).toEqual([url, true]);
    expect([url, await starts({ ...world, noReplay }, url)]).toEqual([url, false]);
  }
  const estimate = replayEstimate({ sample_count: 0 });
  expect(await starts({ ...world, estimate }, '/ui/replays/new?step=triage')).toBe(false);
});

test('a refusal names the field that it is about', async () => {
  const noReplay = new AppError('unprocessable', 'body.to_step: comes before "plan"');
  const { body } = await (await pagesWith({ ...world, noReplay })).get(PIPELINE);
  expect(body).toContain('The last step comes before &quot;plan&quot;.');
});

test('only what was changed is part of the candidate, and a button that is pressed twice starts one batch', async () => {
  const { post, deps } = await pagesWith(world);
  const changed = TEMPLATE.replace('brief', 'exact').replaceAll('\n', '\r\n');
  const form = { ...FORM, 'model:triage': 'sonnet', 'prompt:triage': 'Look at {{summary}}.', 'prompt:plan': changed };
  const preview = (await post('/ui/replays/range', { ...form, act: 'preview' })).body;
  expect(preview).toContain('Be <ins>exact</ins>.');
  expect(preview).not.toContain('Nothing is changed');
  expect(preview).toContain('is asked again with model sonnet');
  expect(deps.replayed).toEqual([]);
  const started = await post('/ui/replays/range', { ...form, act: 'start' });
  expect([started.statusCode, started.headers.location]).toEqual([303, '/ui/replays/b1']);
  await post('/ui/replays/range', { ...form, act: 'start' });
  await post('/ui/replays/range', { ...form, k: '3', act: 'start' });
  expect(deps.replayed[0]).toMatchObject({
    step: 'checkout',
    body: {
      from_step: 'triage',
      to_step: 'plan',
      k: 20,
      candidate: { triage: { model: 'sonnet' }, plan: { prompt_template: changed.replaceAll('\r\n', '\n') } },
    },
  });
  const [first, again, other] = deps.replayed.map(({ key }) => key);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test('what cannot start says why, beside what was entered', async () => {
  const noReplay = new AppError('unprocessable', 'body.to_step: the range contains the group "group"');
  const { post, deps } = await pagesWith({ ...world, noReplay });
  const refused = await post('/ui/replays/range', { ...FORM, 'model:plan': 'sonnet', act: 'start' });
  expect(refused.statusCode).toBe(422);
  expect(refused.body).toContain('The range contains the group &quot;group&quot;.');
  expect(refused.body).toContain('value="sonnet"');
  for (const k of ['0', '101', 'many', '']) {
    const { body, statusCode } = await post('/ui/replays/range', { ...FORM, k: k || ' x', act: 'start' });
    expect([k, statusCode, body.includes('a whole number from 1 to 100')]).toEqual([k, 422, true]);
  }
  expect((await post('/ui/replays/range', { ...FORM, _csrf: 'x', act: 'start' })).statusCode).toBe(403);
  expect(deps.replayed).toEqual([]);
});

test('a viewer reads the form and starts nothing', async () => {
  const { get, post, deps } = await pagesWith({ ...world, viewer: { ...VIEWER, role: 'viewer' } });
  expect((await get(PIPELINE)).body).not.toContain('Start the replay');
  expect((await post('/ui/replays/range', { ...FORM, act: 'start' })).statusCode).toBe(403);
  expect(deps.replayed).toEqual([]);
  const off = await pagesWith({ ...world, safeAgents: [] });
  expect((await off.get(PIPELINE)).body).toContain('Replay is off');
});

test('the report says step by step what was asked again and what was answered from the record', async () => {
  const { get } = await pagesWith({ ...world, reports: [chainReport()] });
  const { body } = await get('/ui/replays/b2');
  expect(body).toContain('<h1>Replay of checkout: triage to plan</h1>');
  expect(body).toContain('triage: model claude-sonnet');
  expect(body).toContain('1 of 1 graded answers regressed');
  expect(body).toContain('webhook step, not executed');
  expect(body).toContain('No request was sent: the later steps saw the recorded response.');
  expect(body).toContain('Checks of this step that did not run: probe.');
  expect(body).toMatch(/Accuracy<\/th>\n<td class="num">100.0%<\/td>\n<td class="num">0.0%<\/td>/);
  for (const fact of ['Input tokens each', 'Cost each', 'Duration each']) expect(body).toContain(fact);
});

test('each recorded run has its steps in their order, both answers and the buttons that mark the candidate', async () => {
  const { get } = await pagesWith({ ...world, reports: [chainReport()] });
  const { body } = await get('/ui/replays/b2');
  expect(body.indexOf('id="run-r1"')).toBeLessThan(body.indexOf('id="run-r2"'));
  const run = body.slice(body.indexOf('id="run-r1"'), body.indexOf('id="run-r2"'));
  expect(run).toContain('plan regressed');
  expect(run).toContain('Checkout answers 5xx<span class="note">Restart the router.</span>');
  expect(run).toMatch(/<b>triage<\/b>[^]*<b>tell<\/b>[^]*<b>plan<\/b>/);
  expect(run).toContain('webhook step, answered with what was recorded');
  expect(run).toContain('href="/ui/runs/r1?step&#x3D;tell"');
  expect(run).toContain('Restart the router.');
  expect(run).toContain('<input type="hidden" name="step" value="plan/0">');
  expect(run).toContain('action="/ui/runs/b2/feedback"');
  expect(run).toContain('<input type="hidden" name="next" value="/ui/replays/b2">');
});

test('a changed template is compared with the newest one of its own pipeline', async () => {
  const use = (pipeline: string, firstSeenAt: number) => ({
    promptHash: pipeline,
    template: `The plan of ${pipeline}.`,
    pipelines: [pipeline],
    firstSeenAt,
    lastSeenAt: firstSeenAt,
    runsTotal: 1,
    labelledN: 0,
  });
  const versions = promptVersions([use('restart', 2), use('checkout', 1)], []).map(promptVersionView);
  const report = chainReport({ candidate: { plan: { prompt_template: 'Another plan.' } } });
  const { get } = await pagesWith({ ...world, reports: [report], promptVersions: versions });
  const text = (await get('/ui/replays/b2')).body.replaceAll(/<[^>]+>/g, '');
  expect(text).toContain('The plan of checkout.');
  expect(text).not.toContain('The plan of restart.');
});

test('runs that ended early or could not be replayed say so', async () => {
  const failed = { ...replayRow({ status: 'execution_failed', reason: 'is down' }), step_name: 'triage' };
  const never = { ...replayRow({ status: 'pending', candidate_step_id: null }, null), step_name: 'plan' };
  const skipped = { ...replayRow({ status: 'skipped' }), step_name: 'plan' };
  const runs = [
    chainRun('r1', [failed, never], { result: 'partial' }),
    chainRun('r2', [], { result: 'unreplayable', reason: 'the recorded run is gone' }),
    chainRun('r3', [{ ...replayRow(), step_name: 'triage' }, skipped]),
  ];
  const { get } = await pagesWith({ ...world, reports: [chainReport({ runs, unreplayable_count: 1 })] });
  const { body } = await get('/ui/replays/b2');
  for (const text of [
    'Partial',
    'is down',
    'The chain ended at an earlier step',
    'Unreplayable',
    'the recorded run is gone',
  ])
    expect(body).toContain(text);
  expect(body).toContain('Its condition did not hold with the replayed results.');
});

test('a running replay is followed and can be cancelled; one that ended is exported', async () => {
  const runs = [
    chainRun('r1', [{ ...replayRow({ status: 'running' }), step_name: 'triage' }], { result: 'pending' }),
    chainRun('r2', [{ ...replayRow(), step_name: 'triage' }]),
  ];
  const running = chainReport({ status: 'running', completed_at: null, runs });
  const { get } = await pagesWith({ ...world, reports: [running] });
  const { body } = await get('/ui/replays/b2');
  expect(body).toContain('data-stream="/ui/runs/b2/stream"');
  expect(body).toContain('1 of 2 recorded runs');
  expect(body).toContain('action="/ui/replays/b2/cancel"');
  expect(body).not.toContain('/export?');
  const ended = await pagesWith({ ...world, reports: [chainReport()] });
  expect((await ended.get('/ui/replays/b2')).body).toContain('href="/ui/replays/b2/export?format&#x3D;jsonl"');
  const file = await ended.get('/ui/replays/b2/export?format=csv');
  expect([file.statusCode, file.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(file.body.split('\r\n')[0]).toMatch(/^run_id,step_name,source_run_id/);
  expect((await ended.get('/ui/replays/none/export?format=csv')).statusCode).toBe(404);
});

test('a batch of a range leads from the list and from its run to its report, and cannot be rerun', async () => {
  const batch = replayBatch({
    run_id: 'b2',
    kind: 'chain',
    pipeline_name: 'checkout',
    to_step: 'plan',
    candidates: { triage: { model: 'sonnet' }, plan: { prompt_template: 'x' } },
  });
  const replay_of = {
    kind: 'chain',
    from_step: 'triage',
    to_step: 'plan',
    mode: 'rerender',
    candidate: {},
    k: 20,
  } as const;
  const { get } = await pagesWith({ ...world, batches: [batch], details: [runDetail({ id: 'b2', replay_of })] });
  const { body } = await get('/ui/replays');
  expect(body).toContain('checkout: triage to plan</a>');
  expect(body).toContain('href="/ui/replays/b2"');
  expect(body).toContain('triage: model sonnet · plan: another prompt');
  const run = (await get('/ui/runs/b2')).body;
  expect(run).toContain('href="/ui/replays/b2">Open the report</a>');
  expect(run).not.toContain('Rerun from the start');
  expect(run).not.toContain('Was this run right?');
  // Its rows are no steps of a pipeline: a graph would say that none was reached.
  expect(run).not.toContain('Not reached');
});

test('a hundred runs of six steps with long hostile answers stay below 500 KB, page by page', async () => {
  const long = `<b>"'&${HOSTILE}`.repeat(200);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const runs = Array.from({ length: 100 }, (_none, n) =>
    chainRun(
      `r${n}`,
      names.map((step_name) => ({
        ...replayRow(
          { change: 'regressed', candidate_step_id: `${step_name}${n}`, reason: long },
          { summary: `${n}${long}`, step_name: `${step_name}/${n}` },
        ),
        step_name,
      })),
    ),
  );
  const [triage] = chainReport().steps;
  const steps = names.map((step_name) => ({
    ...(triage as NonNullable<typeof triage>),
    step_name,
    checks_not_run: [],
  }));
  const report = chainReport({ runs, steps, candidate: { a: { prompt_template: long } } });
  const { get } = await pagesWith({ ...world, reports: [report] });
  const { body } = await get('/ui/replays/b2');
  expect(Buffer.byteLength(body)).toBeLessThan(500_000);
  expect(body).not.toContain('<img src=x');
  expect(body).toContain('1 to 10 of 100 recorded runs');
  expect((await get('/ui/replays/b2?page=10')).body).toContain('91 to 100 of 100 recorded runs');
  for (const page of ['0', '99', 'x', '-1', '1e9'])
    expect((await get(`/ui/replays/b2?page=${page}`)).statusCode).toBe(200);
});
