import { AppError } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { VIEWER } from '../fixtures/fake-deps.ts';
import { goldenSet } from '../fixtures/golden-sets.ts';
import { pagesWith } from '../fixtures/pages-with.ts';
import { replayBatch, replayEstimate, replayReport, replayRow } from '../fixtures/replays.ts';
import { HOSTILE, NOW, runDetail } from '../fixtures/runs.ts';
import { createBudget } from '../diff/budget.ts';
import { bucketValue } from './form.ts';
import { sampleRow } from './sample-rows.ts';

const TEMPLATE = 'Look at {{summary}}.\nSay why.\n';
const at = new Date(NOW).toISOString();
const VERSION = {
  prompt_hash: 'p1',
  template: TEMPLATE,
  first_seen_at: at,
  last_seen_at: at,
  runs_total: 4,
  labelled_n: 3,
  pipelines: ['checkout'],
  diff_from_previous: null,
  calibration: [],
};
const BUCKET = {
  agent: 'first-line-triage',
  provider: 'anthropic',
  model: 'claude-haiku',
  prompt_hash: 'p1',
  agent_version: null,
  total_n: 3,
  pipelines: [],
  bins: [],
  recommendation: null,
};
const world = { promptVersions: [VERSION], buckets: [BUCKET], goldenSets: [goldenSet()] };
const FORM = {
  _csrf: VIEWER.csrf,
  step: 'triage',
  samples: 'current',
  k: '20',
  mode: 'rendered',
  model: '',
  agent: '',
};

test('the list shows every batch with how far it is, and follows the ones that run', async () => {
  const running = replayBatch({ run_id: 'b2', status: 'running', samples: 20, attempted: 7 });
  const { get } = await pagesWith({ ...world, batches: [running, replayBatch()] });
  const { body } = await get('/ui/replays');
  expect(body).toContain('7 of 20 samples');
  expect(body).toContain('<progress value="7" max="20"');
  expect(body).toContain('data-poll');
  expect((await get('/ui/replays?step=other')).body).toContain('No replay yet');
  expect((await get('/ui/replays?before=nonsense&step=%00')).statusCode).toBe(200);
});

test.each([
  [{ regressed: 3, unchanged: 17 }, '3 of 20 regressed'],
  [{ status: 'cancelled', regressed: 1, unchanged: 1 }, '1 of 2 regressed'],
  [{ status: 'cancelled' }, 'Cancelled'],
  [{ failed: 2 }, '2 failed'],
  [{ unchanged: 0 }, 'Not graded'],
  [{ improved: 1 }, 'None regressed'],
] as const)('the list says what a replay found: %j is "%s"', async (fields, words) => {
  const { get } = await pagesWith({ ...world, batches: [replayBatch(fields)] });
  expect((await get('/ui/replays')).body).toContain(`<span>${words}</span>`);
});

test('a scheduled replay says that it asked the step as it was loaded, and what of', async () => {
  const batches = [replayBatch({ source: 'regression', candidate: {}, candidates: {} })];
  const { get } = await pagesWith({
    ...world,
    batches,
    reports: [replayReport({ source: 'regression', candidate: {}, source_bucket: null })],
  });
  expect((await get('/ui/replays')).body).toContain('the step as it was loaded · scheduled');
  const { body } = await get('/ui/replays/b1');
  expect(body).toContain('Scheduled · the step as it was loaded');
  expect(body).toContain(' of the golden set');
});

test('the form begins with the recorded template, and tells the cost beside the number of samples', async () => {
  const { get } = await pagesWith(world);
  const { body } = await get('/ui/replays/new?step=triage');
  expect(body).toContain(`spellcheck="false">\n${TEMPLATE}</textarea>`);
  expect(body).toContain('About $0.08');
  expect(body).toContain('Golden set checkout-triage, 1 member');
  expect(body).toContain('first-line-triage · claude-haiku · prompt p1 · 3 marked');
  const unpriced = await pagesWith({ ...world, estimate: replayEstimate({ total: null, per_sample: null }) });
  expect((await unpriced.get('/ui/replays/new?step=triage')).body).toContain('Cost unknown');
});

test('of several pipelines with a step of that name, the form shows the template used last and says whose it is', async () => {
  const older = new Date(NOW - 3_600_000).toISOString();
  const newer = { ...VERSION, prompt_hash: 'p2', template: 'New', pipelines: ['trial'], last_seen_at: older };
  const { get } = await pagesWith({ ...world, promptVersions: [newer, VERSION] });
  const { body } = await get('/ui/replays/new?step=triage');
  expect(body).toContain(`spellcheck="false">\n${TEMPLATE}</textarea>`);
  expect(body).toContain('The recorded template is that of pipeline checkout (prompt p1).');
  const chosen = (await get('/ui/replays/new?step=triage&of_prompt_hash=p2')).body;
  expect(chosen).toContain('The recorded template is that of pipeline trial (prompt p2).');
});

test('a changed prompt is shown against the recorded one, and only then part of the candidate', async () => {
  const { post, deps } = await pagesWith(world);
  const changed = TEMPLATE.replace('why', 'nothing').replaceAll('\n', '\r\n');
  const { body } = await post('/ui/replays/new', { ...FORM, prompt: changed, act: 'preview' });
  expect(body).toContain('Say <ins>nothing</ins>.');
  expect(deps.replayed).toEqual([]);
  const started = await post('/ui/replays/new', { ...FORM, prompt: changed, act: 'start' });
  expect([started.statusCode, started.headers.location]).toEqual([303, '/ui/replays/b1']);
  await post('/ui/replays/new', { ...FORM, prompt: TEMPLATE.replaceAll('\n', '\r\n'), model: 'sonnet', act: 'start' });
  expect(deps.replayed.map(({ body: launched }) => launched)).toMatchObject([
    { bucket: 'current', mode: 'rerender', candidate: { prompt_template: 'Look at {{summary}}.\nSay nothing.\n' } },
    { mode: 'rendered', candidate: { model: 'sonnet', prompt_template: null } },
  ]);
});

test('a template that nobody changed follows the executions that are chosen', async () => {
  const newer = { ...VERSION, prompt_hash: 'p2', template: 'New', pipelines: ['trial'] };
  const { post, deps } = await pagesWith({ ...world, promptVersions: [VERSION, newer] });
  const of = (prompt_hash: string) => ({ samples: bucketValue({ prompt_hash }), begun: 'p1' });
  const { body } = await post('/ui/replays/new', { ...FORM, ...of('p2'), prompt: TEMPLATE, act: 'preview' });
  expect(body).toContain('spellcheck="false">\nNew</textarea>');
  expect(body).toContain('name="begun" value="p2"');
  await post('/ui/replays/new', { ...FORM, ...of('p2'), prompt: TEMPLATE, act: 'start' });
  await post('/ui/replays/new', { ...FORM, ...of('p2'), prompt: 'Mine', act: 'start' });
  expect(deps.replayed.map(({ body: launched }) => launched)).toMatchObject([
    { mode: 'rendered', candidate: { prompt_template: null } },
    { mode: 'rerender', candidate: { prompt_template: 'Mine' } },
  ]);
});

test('a golden set and a bucket can be chosen; the link of a bucket chooses it', async () => {
  const { get, post, deps } = await pagesWith(world);
  await post('/ui/replays/new', { ...FORM, samples: `set:${goldenSet().id}`, act: 'start' });
  expect(deps.replayed).toMatchObject([{ step: goldenSet().id, body: { candidate: {} } }]);
  const step = await get('/ui/steps/triage');
  const [, link] = /<a class="link" href="([^"]+)">Try another model on these marks/.exec(step.body) ?? [];
  const { body } = await get((link ?? '').replaceAll('&amp;', '&').replaceAll('&#x3D;', '='));
  expect(body).toMatch(/selected>first-line-triage · claude-haiku/);
});

test('what cannot start says why, beside what was entered', async () => {
  const noReplay = new AppError('forbidden', 'not in replay.safe_agents: gateway:other');
  const { get, post, deps } = await pagesWith({ ...world, noReplay });
  const { statusCode, body } = await post('/ui/replays/new', { ...FORM, model: 'sonnet', act: 'start' });
  expect(statusCode).toBe(403);
  expect(body).toContain('Not in replay.safe_agents: gateway:other.');
  expect(body).toContain('value="sonnet"');
  for (const k of ['0', '101', 'many', '1.5', ' x']) {
    const refused = await post('/ui/replays/new', { ...FORM, k, act: 'start' });
    expect([k, refused.statusCode, refused.body.includes('from 1 to 100')]).toEqual([k, 422, true]);
  }
  expect(deps.replayed).toEqual([]);
  expect((await post('/ui/replays/new', { ...FORM, _csrf: 'x', act: 'start' })).statusCode).toBe(403);
  expect((await get('/ui/replays/new')).headers.location).toBe('/ui/replays');
  const off = await pagesWith({ ...world, safeAgents: [] });
  expect((await off.get('/ui/replays/new?step=triage')).body).toContain('Replay is off');
});

test('the report begins with what got worse, shows both answers, and the candidate can be marked', async () => {
  const rows = [
    replayRow({ change: 'unchanged', candidate_label: 1, candidate_step_id: 'c0' }),
    replayRow(
      { change: 'regressed', candidate_label: 0, judge_verdict: 'incorrect', judge_reason: 'Blames the network.' },
      { summary: 'The network is slow.', step_name: 'triage/1' },
    ),
  ];
  const report = replayReport({ rows, regressed: 1, unchanged: 1, combined_accuracy: 0.5 });
  const { get } = await pagesWith({ ...world, reports: [report] });
  const { body } = await get('/ui/replays/b1');
  expect(body).toContain('1 of 2 graded samples regressed');
  expect(body.indexOf('Regressed')).toBeLessThan(body.indexOf('>Unchanged<'));
  expect(body).toContain('Blames the network.');
  expect(body).toContain('Checkout answers 5xx<span class="note">The network is slow.</span>');
  expect(body).toMatch(/<ins>network<\/ins>|The network is slow\./);
  expect(body).toContain('<input type="hidden" name="step" value="triage/1">');
  expect(body).toContain('<input type="hidden" name="next" value="/ui/replays/b1">');
  expect(body).toMatch(/Accuracy<\/th>\n<td class="num">100.0%<\/td>\n<td class="num">50.0%<\/td>/);
});

test('accuracies are compared of the samples that have both labels', async () => {
  const rows = [
    ...[1, 1, 1, 0].map((label) => replayRow({ candidate_label: label as 0 | 1 })),
    replayRow({ recorded_label: 0 }),
  ];
  const report = replayReport({ rows, recorded_accuracy: 0.8, combined_accuracy: 0.75 });
  const { get } = await pagesWith({ ...world, reports: [report] });
  const { body } = await get('/ui/replays/b1');
  expect(body).toMatch(
    /Accuracy of the 4 graded<\/th>\n<td class="num">100.0%<\/td>\n<td class="num">75.0%<\/td>\n<td class="num tone-bad">−25.0 points/,
  );
  expect(body).toMatch(/Accuracy of all recorded<\/th>\n<td class="num">80.0%<\/td>\n<td class="num">–<\/td>/);
});

test('how sure both were stands bin by bin, as a chart and as numbers', async () => {
  const confidence_distribution = [
    { lo: 0, hi: 0.5, recorded_n: 0, candidate_n: 2 },
    { lo: 0.5, hi: 1, recorded_n: 3, candidate_n: 1 },
  ];
  const { get } = await pagesWith({ ...world, reports: [replayReport({ confidence_distribution })] });
  const { body } = await get('/ui/replays/b1');
  expect(body).toContain('<title>0.50 to 1.00: 3 recorded, 1 of the candidate</title>');
  expect(body).toMatch(/0\.00 to 0\.50<\/td><td class="num right">0<\/td><td class="num right">2</);
  const none = await pagesWith({ ...world, reports: [replayReport()] });
  expect((await none.get('/ui/replays/b1')).body).toContain('No answer had a confidence yet.');
});

test('a launch of nothing new says so, and a button that is pressed twice starts one batch', async () => {
  const { get, post, deps } = await pagesWith(world);
  const { body } = await get('/ui/replays/new?step=triage');
  expect(body).toContain('Nothing is changed: the same configuration is asked again.');
  const [, key = ''] = /name="key" value="([^"]+)"/.exec(body) ?? [];
  const form = { ...FORM, key, act: 'start' };
  for (const k of ['20', '20', '3']) await post('/ui/replays/new', { ...form, k });
  const [first, again, other] = deps.replayed.map((one) => one.key);
  expect([again, other === first]).toEqual([first, false]);
  const changed = await post('/ui/replays/new', { ...form, model: 'sonnet', act: 'preview' });
  expect(changed.body).not.toContain('Nothing is changed');
});

test.each([
  ['nothing graded', {}, 'Nothing is graded yet'],
  ['no regression', { unchanged: 3, candidate_total_n: 3 }, 'No graded sample regressed'],
  ['running', { status: 'running' as const, completed_at: null }, 'The replay goes on'],
  [
    'a failed candidate',
    { unchanged: 2, rows: [replayRow({ status: 'execution_failed' })] },
    '1 candidate failed to answer',
  ],
])('the report says at once how it stands: %s', async (_what, fields, text) => {
  const { get } = await pagesWith({ ...world, reports: [replayReport(fields)] });
  expect((await get('/ui/replays/b1')).body).toContain(text);
});

test('a running batch is followed and can be cancelled by an operator', async () => {
  const report = replayReport({
    status: 'running',
    completed_at: null,
    rows: [replayRow({ status: 'pending' }, null)],
  });
  const { get, post, deps } = await pagesWith({ ...world, reports: [report] });
  expect((await get('/ui/replays/b1')).body).toContain('data-stream="/ui/runs/b1/stream"');
  expect((await post('/ui/replays/b1/cancel', { _csrf: VIEWER.csrf })).headers.location).toBe('/ui/replays/b1');
  expect(deps.cancelled).toEqual(['b1']);
  const looker = await pagesWith({ ...world, reports: [report], viewer: { ...VIEWER, role: 'viewer' } });
  expect((await looker.get('/ui/replays/b1')).body).not.toContain('/cancel"');
  expect((await looker.get('/ui/replays/new?step=triage')).body).not.toContain('Start the replay');
  expect((await looker.get('/ui/replays/none')).statusCode).toBe(404);
});

test('a step, the versions of its prompt and a step of a run lead to the form', async () => {
  const { get } = await pagesWith({ ...world, details: [runDetail({ id: 'r1' })] });
  const { body } = await get('/ui/steps/triage');
  expect(body).toContain('href="/ui/replays/new?step&#x3D;triage"');
  expect(body).toContain('version&#x3D;p1"');
  expect((await get('/ui/runs/r1')).body).toContain('href="/ui/replays/new?step&#x3D;triage"');
});

test('hostile texts stay texts, and a batch of a hundred long answers stays below 500 KB', async () => {
  const long = `<b>"'&${HOSTILE}`.repeat(500);
  const rows = Array.from({ length: 100 }, (_none, n) =>
    replayRow(
      { candidate_step_id: `c${n}`, judge_reason: long, judge_verdict: 'incorrect', change: 'regressed' },
      { summary: `${n}${long}`, step_name: `triage/${n}` },
    ),
  );
  const { get } = await pagesWith({
    ...world,
    reports: [replayReport({ rows, candidate: { prompt_template: long } })],
  });
  const { body } = await get('/ui/replays/b1');
  expect(Buffer.byteLength(body)).toBeLessThan(500_000);
  expect(body).not.toContain('<img src=x');
});

test.each([
  ['recorded_partial', 'The judge was not asked: the recorded answer is marked partial.'],
  ['judge_timeout', 'The judge did not answer in time.'],
])('why the judge has no verdict is told in words: %s', async (judge_skipped_reason, words) => {
  const { get } = await pagesWith({ reports: [replayReport({ rows: [replayRow({ judge_skipped_reason })] })] });
  expect((await get('/ui/replays/b1')).body).toContain(words);
});

test('answers for which a page has no time are not read', () => {
  const output = { toJSON: () => expect.unreachable('read') } as never;
  const late = { take: () => true, hasTime: () => false };
  const shown = { runId: 'b1', operator: false, active: false, budget: late, here: '/ui/replays/b1' };
  const { answers } = sampleRow(replayRow({}, { output }), shown);
  expect(answers).toMatchObject({ rows: [], cut: expect.stringContaining('no time') });
});

test('answers in deep lists are compared on one line', () => {
  let deep: unknown = Array(20_000).fill(1);
  for (let level = 0; level < 58; level++) deep = [deep];
  const shown = {
    runId: 'b1',
    operator: false,
    active: false,
    budget: createBudget({ bytes: 1e6, ms: 10_000 }),
    here: '',
  };
  const { answers } = sampleRow(replayRow({}, { output: { deep } }), shown);
  expect(JSON.stringify(answers)).toContain(JSON.stringify(deep));
});
