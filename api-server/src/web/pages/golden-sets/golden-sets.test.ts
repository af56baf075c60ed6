import { AppError } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { VIEWER } from '../fixtures/fake-deps.ts';
import { goldenMember, goldenSet, pinOffer, regression, regressionReport, SET_ID } from '../fixtures/golden-sets.ts';
import { pagesWith } from '../fixtures/pages-with.ts';
import { runDetail } from '../fixtures/runs.ts';

const CSRF = { _csrf: VIEWER.csrf };
const READ_ONLY = { ...VIEWER, role: 'viewer' as const };
const RUN = goldenMember().run_id;
const PIN = `/ui/golden-sets/pin?run=${RUN}&step=triage`;

test('without a set the page says how to begin, and a run links to the pin form beside each answer', async () => {
  const { get } = await pagesWith({ details: [runDetail()] });
  const { body } = await get('/ui/golden-sets');
  expect(body).toContain('No golden set yet');
  expect(body).toContain('href="/ui/runs"');
  const run = (await get(`/ui/runs/${runDetail().id}`)).body;
  expect(run).toContain('Pin triage to a golden set');
  expect(run).toContain('/ui/golden-sets/pin?run');
});

test('the list shows members and baseline, the archived ones apart, and escapes what people wrote', async () => {
  const archived = goldenSet({ id: 'x', name: 'old', archived_at: '2026-11-20T00:00:00.000Z' });
  const { get } = await pagesWith({ goldenSets: [goldenSet(), archived] });
  const { body } = await get('/ui/golden-sets');
  expect(body).toContain('1 set<');
  expect(body).toContain('100.0%');
  expect(body).toContain('archived 2026-11-20');
  expect(body).not.toContain('<script>alert');
});

test('a set shows its members with their labels, what changed since, and what is gone', async () => {
  const rows = [
    goldenMember({ current_outcome: 'incorrect', note: 'two causes' }),
    goldenMember({ id: 'y', available: false, pipeline_name: null, summary: null, current_outcome: null }),
  ];
  const { get } = await pagesWith({ goldenSets: [goldenSet({ rows, members: 2 })] });
  const { body } = await get(`/ui/golden-sets/${SET_ID}`);
  expect(body).toContain('marked incorrect since');
  expect(body).toContain('1 member got another mark after the pin');
  expect(body).toContain('1 member cannot be replayed');
  expect(body).toContain('two causes');
});

test('members with the same answer are told apart by their runs', async () => {
  const rows = ['11111111', '22222222'].map((end) =>
    goldenMember({ id: end, run_id: `7d1f0c9e-52c2-4b7e-9a51-3f8a${end}` }),
  );
  const { get } = await pagesWith({ goldenSets: [goldenSet({ rows, members: 2 })] });
  const { body } = await get(`/ui/golden-sets/${SET_ID}`);
  for (const { id } of rows) expect(body).toContain(`checkout-errors · triage · run …${id} ·`);
});

test('a viewer sees sets without forms, and posts nothing', async () => {
  const { get, post, deps } = await pagesWith({
    viewer: READ_ONLY,
    goldenSets: [goldenSet()],
    offer: pinOffer(),
  });
  for (const url of ['/ui/golden-sets', `/ui/golden-sets/${SET_ID}`, PIN])
    expect((await get(url)).body).not.toMatch(/<form method="post" action="\/ui\/golden/);
  for (const url of ['/ui/golden-sets', '/ui/golden-sets/pin', `/ui/golden-sets/${SET_ID}/archive`])
    expect((await post(url, { ...CSRF, name: 'x', step_name: 'y' })).statusCode).toBe(403);
  expect(deps.golden).toEqual([]);
});

test('a post without the CSRF token is refused', async () => {
  const { post, deps } = await pagesWith({ goldenSets: [goldenSet()] });
  expect((await post('/ui/golden-sets', { name: 'x', step_name: 'y' })).statusCode).toBe(403);
  expect(deps.golden).toEqual([]);
});

const ODD = ['', ' ', '.', '../x', 'a b', 'a/b', '-x', 'ä', 'x'.repeat(65), 'a\0', '{{x}}', '<b>', "a'b", '__proto__'];
test.each(ODD)('the name %j is shown again with what is wrong', async (name) => {
  const { post, deps } = await pagesWith();
  const answer = await post('/ui/golden-sets', { ...CSRF, name, step_name: 'triage' });
  expect([answer.statusCode, deps.golden]).toEqual([400, []]);
  expect(answer.body).toContain('must match [a-zA-Z0-9]');
  expect(answer.body).toContain('value="triage"');
});

test('a new set opens, and a name that is taken is said at the form', async () => {
  const { post } = await pagesWith();
  const form = { ...CSRF, name: 'checkout-triage', step_name: 'triage', description: '' };
  expect((await post('/ui/golden-sets', form)).headers.location).toBe(`/ui/golden-sets/${SET_ID}`);
  const goldenRefusal = new AppError('collision', 'a golden set with this name exists');
  const taken = await (await pagesWith({ goldenRefusal })).post('/ui/golden-sets', form);
  expect(taken.statusCode).toBe(400);
  expect(taken.body).toContain('a golden set with this name exists');
});

test('a set with members leads to the form that replays it, an empty or archived one does not', async () => {
  const replay = `href="/ui/replays/new?step&#x3D;triage&amp;samples&#x3D;set%3A${SET_ID}"`;
  const leads = async (fields: Parameters<typeof goldenSet>[0]) =>
    (await (await pagesWith({ goldenSets: [goldenSet(fields)] })).get(`/ui/golden-sets/${SET_ID}`)).body.includes(
      replay,
    );
  expect(await leads({})).toBe(true);
  expect(await leads({ members: 0, rows: [] })).toBe(false);
  expect(await leads({ archived_at: '2026-11-20T00:00:00.000Z' })).toBe(false);
});

test('a step is pinned into a set of its step, or into a new one', async () => {
  const { get, post, deps } = await pagesWith({ offer: pinOffer({ sets: [goldenSet()] }) });
  expect((await get(PIN)).body).toContain('checkout-triage (1 member)');
  const form = { ...CSRF, run: RUN, step: 'triage', note: ' why ' };
  const answer = await post('/ui/golden-sets/pin', { ...form, set: SET_ID });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, `/ui/golden-sets/${SET_ID}`]);
  await post('/ui/golden-sets/pin', { ...form, name: 'fresh' });
  const member = { run_id: RUN, step_name: 'triage', note: 'why' };
  expect(deps.golden).toEqual([
    ['pin', SET_ID, member],
    ['create', { name: 'fresh', step_name: 'triage', description: '' }],
    ['pin', SET_ID, member],
  ]);
  const odd = await post('/ui/golden-sets/pin', { ...form, name: '../x' });
  expect(odd.statusCode).toBe(400);
  expect(odd.body).toContain('name: must match');
});

test('a step without a label is marked first, and leads back to the pin form', async () => {
  const step = { ...pinOffer().step, outcome: null, labelSource: null };
  const { get } = await pagesWith({ offer: pinOffer({ step }) });
  const { body } = await get(PIN);
  expect(body).toContain('First mark this step');
  expect(body).toContain('name="next" value="/ui/golden-sets/pin?run');
  expect(body).not.toContain('Create and pin');
});

test('a step that no replay can repeat says why', async () => {
  const { get } = await pagesWith({ offer: pinOffer({ refused: 'the step has no answer: its status is failed' }) });
  expect((await get(PIN)).body).toContain('The step has no answer: its status is failed.');
});

test('notes, removals and the archive reach the set and lead back to it', async () => {
  const { post, deps, get } = await pagesWith({ goldenSets: [goldenSet()] });
  const member = `/ui/golden-sets/${SET_ID}/members/${goldenMember().id}`;
  expect((await post(member, { ...CSRF, change: 'note', note: '' })).headers.location).toBe(
    `/ui/golden-sets/${SET_ID}`,
  );
  await post(member, { ...CSRF, change: 'remove' });
  await post(`/ui/golden-sets/${SET_ID}/archive`, CSRF);
  expect(deps.golden).toEqual([
    ['note', SET_ID, goldenMember().id, null],
    ['remove', SET_ID, goldenMember().id],
    ['archive', SET_ID, true],
  ]);
  expect((await get(`/ui/golden-sets/${SET_ID}/export`)).headers['content-disposition']).toContain(
    'checkout-triage.jsonl',
  );
});

test.each(['/ui/golden-sets/nothing', '/ui/golden-sets/%00', `/ui/golden-sets/${RUN}`, '/ui/golden-sets/pin?run=x'])(
  '%s is a page that says that it does not exist',
  async (url) => {
    const { get } = await pagesWith();
    const answer = await get(url);
    expect(answer.statusCode).toBe(404);
    expect(answer.body).toContain('This does not exist');
  },
);

test('a set shows its schedule, its past replays as a chart and a list, and why an entry is refused', async () => {
  const schedule = {
    golden_set: 'checkout-triage',
    cron: '0 2 * * *',
    next_at: '2026-11-22T02:00:00.000Z',
    refused: null,
    judged: true,
  };
  const regressions = [
    regression(),
    regression({ id: 'older', alert: null, fresh_accuracy: 1, n_regressed: 0, fire_at: '2026-11-19T02:00:00.000Z' }),
    regression({ id: 'oldest', status: 'crashed', fresh_accuracy: null, error: 'the run is gone', alert: 'x' }),
    regression({ id: 'unlabelled', alert: null, fresh_accuracy: null, n_regressed: 0, n_graded: 0 }),
  ];
  const { get } = await pagesWith({ goldenSets: [goldenSet()], regressions: { schedule, regressions } });
  const { body } = await get(`/ui/golden-sets/${SET_ID}`);
  expect(body).toContain('next <span class="num">2026-11-22 02:00:00 UTC');
  expect(body.match(/class="look-(good|bad|quiet)" x/g)).toHaveLength(4);
  expect(body.match(/width="2.33"/g)).toHaveLength(4);
  expect(body).toContain('the run is gone');
  expect(body.match(/nothing regressed/g)).toHaveLength(1);
  expect(body).toContain('no fresh answer has a label');
  const refused = { ...schedule, next_at: null, refused: 'not in replay.safe_agents: gateway:sre', judged: false };
  const other = await pagesWith({ goldenSets: [goldenSet()], regressions: { schedule: refused, regressions: [] } });
  const page = (await other.get(`/ui/golden-sets/${SET_ID}`)).body;
  expect(page).toContain('Not scheduled:');
  expect(page).toContain('not in replay.safe_agents: gateway:sre');
  expect(page).toContain('No judge is configured');
});

test('a baseline of 100% is a line of the chart, too', async () => {
  const regressions = {
    schedule: null,
    regressions: [regression({ baseline_accuracy: 1 }), regression({ id: 'older' })],
  };
  const { get } = await pagesWith({ goldenSets: [goldenSet()], regressions });
  expect((await get(`/ui/golden-sets/${SET_ID}`)).body).toContain('class="golden-baseline" d="M0 1H');
});

test('the chart of replays of one day says at which time each end of it was', async () => {
  const at = (time: string) => regression({ id: time, fire_at: `2026-11-19T${time}:00.000Z` });
  const regressions = { schedule: null, regressions: [at('15:30'), at('15:00')] };
  const { get } = await pagesWith({ goldenSets: [goldenSet()], regressions });
  const { body } = await get(`/ui/golden-sets/${SET_ID}`);
  expect(body).toContain('<span>2026-11-19 15:00:00 UTC</span><span>15:30:00 UTC</span>');
});

test('a set without a schedule shows the entry to add; an entry without a set is named on the list', async () => {
  const { get } = await pagesWith({ goldenSets: [goldenSet()] });
  expect((await get(`/ui/golden-sets/${SET_ID}`)).body).toContain('golden_set: checkout-triage');
  const lost = {
    golden_set: 'gone',
    cron: '0 2 * * *',
    next_at: null,
    refused: 'there is no golden set of this name',
    judged: true,
  };
  const other = await pagesWith({ regressionSchedules: [lost] });
  expect((await other.get('/ui/golden-sets')).body).toContain('<b>gone is not replayed.</b>');
});

test('the report shows baseline against fresh accuracy, and what regressed before what improved', async () => {
  const { get } = await pagesWith({ regressionReport: regressionReport() });
  const { body } = await get(`/ui/regressions/${regression().id}`);
  for (const text of ['Baseline accuracy', '100.0%', 'Fresh accuracy', '50.0%', 'Unreplayable', 'Divergences'])
    expect(body).toContain(text);
  expect(body.indexOf('>Regressed<')).toBeLessThan(body.indexOf('Improved</span></span>'));
  expect(body).toContain('the recorded execution is gone');
  expect(body).toContain(`href="/ui/replays/${regressionReport().run_id}"`);
  expect(body).toContain('marked partial since');
  expect(body).not.toContain('<script>alert');
  expect((await (await pagesWith()).get('/ui/regressions/x')).statusCode).toBe(404);
});

test('figures stand beside the baseline of the same members, on the report and on the page of the set', async () => {
  const figures = { n_members: 5, n_graded: 4, baseline_accuracy: 0.8, fresh_accuracy: 0.75 };
  const [graded] = regressionReport().rows;
  const rows = [
    ...Array.from({ length: 3 }, () => graded!),
    { ...graded!, fresh_outcome: 'incorrect' as const, change: 'regressed' as const },
    { ...graded!, pinned_outcome: 'incorrect' as const, state: 'ungraded' as const, fresh_outcome: null, change: null },
  ];
  const line = regression(figures);
  const { get } = await pagesWith({
    goldenSets: [goldenSet()],
    regressions: { schedule: null, regressions: [line, regression({ ...figures, id: 'older' })] },
    regressionReport: regressionReport({ ...figures, rows }),
  });
  const report = (await get(`/ui/regressions/${line.id}`)).body;
  expect(report).toMatch(
    /Baseline accuracy<\/span>\n.*>100.0%<\/span>\n.*pinned labels of the 4 graded; 80.0% of all 5</,
  );
  const set = (await get(`/ui/golden-sets/${SET_ID}`)).body;
  expect(set).toContain('<span class="num">75.0%</span><span class="note num">4 of 5 graded</span>');
  expect(set).not.toContain('class="golden-baseline"');
});

test('members with one conclusion differ by their alert and run, and the entry to add names the agent of the step', async () => {
  const members = ['Checkout is slow', null].map((run_summary, at) =>
    goldenMember({ id: `m${at}`, run_id: `7d1f0c9e-52c2-4b7e-9a51-3f8a0c6e1b2${at}`, run_summary }),
  );
  const step = { name: 'triage', executor: 'external', agent: 'sre' };
  const parallel = { name: 'look', parallel: { steps: [step, { ...step, name: 'other', agent: 'x' }] } };
  const config = { name: 'p', steps: [{ ...step, executor: 'gateway' }, parallel] };
  const pipelines = [{ name: 'p', file: 'p.yaml', text: '', hash: 'h', config }];
  const { get } = await pagesWith({ goldenSets: [goldenSet({ rows: members })], definitions: { pipelines } });
  const { body } = await get(`/ui/golden-sets/${SET_ID}`);
  expect(body).toContain('Checkout is slow · checkout-errors · triage · run …0c6e1b20');
  expect(body).toContain('<span class="note">checkout-errors · triage · run …0c6e1b21');
  expect(body).toContain('[&quot;external:sre&quot;, &quot;gateway:sre&quot;, &quot;gateway:replay-judge&quot;]');
  expect((await (await pagesWith({ goldenSets: [goldenSet()] })).get(`/ui/golden-sets/${SET_ID}`)).body).toContain(
    'gateway:AGENT',
  );
});

test('an import replaces labels only where the box is ticked', async () => {
  const { get, post, deps } = await pagesWith({ goldenSets: [] });
  expect((await get('/ui/golden-sets')).body).toContain('Labels of the file replace those of the set');
  await post('/ui/golden-sets/import', { ...CSRF, jsonl: '{}' });
  await post('/ui/golden-sets/import', { ...CSRF, jsonl: '{}', overwrite: 'true' });
  expect(deps.golden).toEqual([
    ['import', '{}', false],
    ['import', '{}', true],
  ]);
});
