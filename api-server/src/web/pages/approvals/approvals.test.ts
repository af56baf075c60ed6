import { AppError } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { approvalLine } from '../fixtures/approvals.ts';
import { VIEWER } from '../fixtures/fake-deps.ts';
import { pagesWith as sitesWith } from '../fixtures/pages-with.ts';
import { HOSTILE, NOW, runDetail, runLine, stepDetail } from '../fixtures/runs.ts';
import type { ApprovalLine } from '../../../service/views/approval.ts';
import { leftOf } from './card.ts';

const iso = (at: number) => new Date(at).toISOString();
const approval = (more: Partial<ApprovalLine> = {}): ApprovalLine =>
  approvalLine({
    run_id: 'r1',
    pipeline: 'checkout',
    fields: [
      { name: 'replicas', type: 'integer', required: true, default: 2 },
      { name: 'size', type: 'string', required: false, options: ['small', 'large'] },
      { name: 'drain', type: 'boolean', required: false, default: true },
    ],
    ...more,
  });

async function pagesWith(world: Parameters<typeof sitesWith>[0] = {}) {
  const { deps, get, post } = await sitesWith(world);
  return {
    deps,
    get: async (url: string) => (await get(url)).body,
    post: (id: string, form: Record<string, string>) => post(`/ui/approvals/${id}`, { _csrf: VIEWER.csrf, ...form }),
  };
}

test('the page shows what is asked, how long, the fields and what was decided', async () => {
  const ended = approval({
    id: '2',
    status: 'rejected',
    decided_by: 'grace',
    decided_at: iso(NOW),
    comment: 'not today',
    question: '\nDrain db-1 first?\nIt has one replica.',
  });
  const asked = approval({ question: '\nRestart the checkout?\n' });
  const { get } = await pagesWith({ approvals: [asked, ended] });
  const page = await get('/ui/approvals');
  expect(page).toContain('1 question waits for a decision.');
  expect(page).toContain('<p class="question">Restart the checkout?</p>');
  expect(page).toContain('14 m 05 s left');
  expect(page).toMatch(/name="field.replicas" value="2"\s+type="number" step="1" required/);
  expect(page).toContain('<option value="large">large</option>');
  expect(page).toContain('<option value="true" selected>Yes</option>');
  expect(page).toContain('>Drain db-1 first?</a>');
  expect(page).toContain('· approve · rejected by grace: not today');
  expect(page).toContain(`name="_csrf" value="${VIEWER.csrf}"`);
});

test('a question that an alert turned round is shown in the order in which it stands', async () => {
  const { get } = await pagesWith({ approvals: [approval({ question: 'Restart \u202Edorp?' })] });
  const page = await get('/ui/approvals');
  expect(page).toContain('<p class="question">Restart \\u202edorp?</p>');
  expect(page).not.toContain('\u202E');
});

test('a form becomes a decision with typed fields, and leads back to where it stood', async () => {
  const { deps, post } = await pagesWith({ approvals: [approval()] });
  const form = {
    'field.replicas': '4',
    'field.size': '',
    'field.drain': 'false',
    comment: ' go ',
    next: '/ui/runs/r1',
  };
  const answer = await post(approval().id, { decision: 'approve', ...form });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, '/ui/runs/r1']);
  expect(deps.decisions).toMatchObject([
    {
      id: approval().id,
      decision: { decision: 'approve', fields: { replicas: 4, drain: false }, comment: 'go' },
      actor: { name: VIEWER.name },
    },
  ]);
});

test('what is wrong with a field stands beside it, with what was typed', async () => {
  const errors = [{ loc: ['body', 'fields', 'replicas'], msg: 'must be of type integer' }];
  const { post } = await pagesWith({
    approvals: [approval()],
    refused: new AppError('validation', 'body.fields.replicas', { extra: { errors } }),
  });
  const answer = await post(approval().id, { decision: 'approve', 'field.replicas': 'many', comment: 'go' });
  expect(answer.statusCode).toBe(400);
  expect(answer.body).toContain('must be of type integer');
  expect(answer.body).toContain('value="many"');
  expect(answer.body).toContain('>go</textarea>');
});

test('who comes too late is told who was first', async () => {
  const { post } = await pagesWith({
    approvals: [approval()],
    refused: new AppError('conflict', 'already approved by grace'),
  });
  const answer = await post(approval().id, { decision: 'reject' });
  expect(answer.statusCode).toBe(409);
  expect(answer.body).toContain('Already approved by grace. Your decision was not stored.');
});

test.each([
  ['a stale form', {}, { _csrf: 'old', decision: 'approve' }, 403],
  ['a viewer', { viewer: { ...VIEWER, role: 'viewer' as const } }, { decision: 'approve' }, 403],
  ['no decision', {}, {}, 400],
])('%s decides nothing', async (_, world, form, status) => {
  const { deps, post } = await pagesWith({ approvals: [approval()], ...world });
  expect((await post(approval().id, form as Record<string, string>)).statusCode).toBe(status);
  expect(deps.decisions).toEqual([]);
});

test('a viewer sees the question without a form', async () => {
  const { get } = await pagesWith({ approvals: [approval()], viewer: { ...VIEWER, role: 'viewer' } });
  const page = await get('/ui/approvals');
  expect(page).toContain('Deciding needs a token');
  expect(page).not.toContain('value="approve"');
});

test('an unknown approval is a page that leads on', async () => {
  const { post } = await pagesWith();
  expect((await post('nothing', { decision: 'approve' })).statusCode).toBe(404);
});

test('the run page opens the step that asks, with the form in it', async () => {
  const run = runDetail({
    id: 'r1',
    status: 'running',
    waiting_on: 'human',
    current_step: 'approve',
    steps: [
      stepDetail({ step_name: 'look' }),
      stepDetail({ step_name: 'approve', executor: 'human', status: 'running', completed_at: null }),
    ],
  });
  const { get } = await pagesWith({ approvals: [approval()], details: [run] });
  const page = await get('/ui/runs/r1');
  expect(page).toContain('Waiting for a decision');
  expect(page).toContain(`action="/ui/approvals/${approval().id}"`);
  expect(page).toContain('name="next" value="/ui/runs/r1"');
  expect(await get('/ui/runs/r1?step=look')).not.toContain('/ui/approvals/0000');
  // In the graph and in the times a step that asks is waiting, not running.
  for (const title of ['approve: Waiting', 'approve: Waiting, ']) expect(page).toContain(title);
  expect(page).not.toContain('approve: Running');
  expect(page).not.toContain('is-live');
});

test('nothing that an alert or an agent said becomes markup', async () => {
  const tool = {
    agent: HOSTILE,
    server: HOSTILE,
    tool: HOSTILE,
    input: { [HOSTILE]: HOSTILE },
    input_sha256: HOSTILE,
    reason: HOSTILE,
  };
  const hostile = {
    approvers: [HOSTILE],
    pipeline: HOSTILE,
    step_name: HOSTILE,
    team: HOSTILE,
    question: HOSTILE,
    comment: HOSTILE,
  };
  const field = {
    name: HOSTILE,
    type: 'string' as const,
    required: true,
    description: HOSTILE,
    options: [HOSTILE],
    default: HOSTILE,
  };
  const result = {
    step_name: HOSTILE,
    conclusion: HOSTILE,
    actions: [{ name: HOSTILE, value: HOSTILE }],
    trust: null,
    threshold: null,
  };
  const { get } = await pagesWith({
    lines: [runLine({ id: 'r1', summary: HOSTILE, severity: HOSTILE, result })],
    approvals: [
      approval({ ...hostile, fields: [field] }),
      approval({ ...hostile, id: '2', tool }),
      approval({
        ...hostile,
        id: '3',
        status: 'approved',
        decided_by: HOSTILE,
        decided_at: iso(NOW),
        answers: { [HOSTILE]: HOSTILE },
      }),
    ],
  });
  expect(await get('/ui/approvals')).not.toContain(HOSTILE);
});

test('a question is one row with severity, who may decide and the time left; a single one is open', async () => {
  const lines = [runLine({ id: 'r1', severity: 'critical' })];
  const one = approval({
    required: 2,
    approvers: ['bea', 'cleo'],
    question: 'Restart the checkout?\nIt takes 2 minutes.',
  });
  const { get } = await pagesWith({ approvals: [one], lines });
  const page = await get('/ui/approvals');
  const row = /<details class="ask"[^]*?<\/summary>/.exec(page)?.[0] ?? '';
  expect(row).toContain(`id="ask-${one.id}" data-row open>`);
  expect(row).toContain('<span class="severity tone-bad">critical</span>');
  expect(row).toContain('<span class="ask-short">Restart the checkout?</span>');
  expect(row).toContain('2 of bea, cleo');
  expect(row).toContain('14 m 05 s left');
  const two = await pagesWith({ approvals: [one, approval({ id: '2' })], lines });
  const rows = (await two.get('/ui/approvals')).match(/<details class="ask"[^>]*>/g);
  expect([rows?.length, rows?.some((text) => text.includes(' open'))]).toEqual([2, false]);
  expect(page).not.toMatch(/approve all|name="approval"/i);
});

test('the open row says what the run had found before it asked', async () => {
  const result = {
    step_name: 'diagnose',
    conclusion: 'The pool is exhausted.',
    actions: [{ name: 'proposed_action', value: 'restart' }],
    trust: 0.86,
    threshold: 0.75,
  };
  const lines = [runLine({ id: 'r1', result, warning_count: 2 })];
  const { get } = await pagesWith({ approvals: [approval()], lines });
  const page = await get('/ui/approvals');
  const evidence = /<dl class="ask-evidence">[^]*?<\/dl>/.exec(page)?.[0] ?? '';
  expect(evidence).toContain('The pool is exhausted.');
  expect(evidence).toContain('<dt>proposed action</dt><dd><b>restart</b></dd>');
  expect(evidence).toContain('Trust 0.86, needs 0.75');
  expect(evidence).toContain('2 warnings');
  expect(evidence).toMatch(/href="\/ui\/runs\/r1\?step(=|&#x3D;)diagnose"/);
  const without = await pagesWith({ approvals: [approval()], lines: [runLine({ id: 'r1', result: null })] });
  expect(await without.get('/ui/approvals')).not.toContain('<dt>Found</dt>');
});

test('time that is left counts down to a word', () => {
  expect([leftOf(iso(NOW + 59_000), NOW), leftOf(iso(NOW), NOW)]).toEqual(['59 s left', 'time is over']);
});

test('an approval that two persons have to give says who did and who may', async () => {
  const rules = { required: 2, approved_by: ['ada'], not_the_starter: true };
  const { get } = await pagesWith({ approvals: [approval({ ...rules, approvers: [VIEWER.name, 'ada'] })] });
  const page = await get('/ui/approvals');
  expect(page).toContain('2 persons have to approve. ada approved.');
  expect(page).toContain('The person who started the run may not approve.');
  expect(page).toContain('data-decision-form');
  const others = await pagesWith({ approvals: [approval({ ...rules, approvers: ['bea', 'cleo'] })] });
  const closed = await others.get('/ui/approvals');
  expect(closed).toContain('Only bea, cleo may decide this.');
  expect(closed).not.toContain('data-decision-form');
});

test('a decision that is not theirs is answered with the reason', async () => {
  const refused = new AppError('forbidden', 'ada started the run; another person has to approve');
  const { post } = await pagesWith({ approvals: [approval()], refused });
  const answer = await post(approval().id, { decision: 'approve', 'field.replicas': '2' });
  expect(answer.statusCode).toBe(403);
  expect(answer.body).toContain('Ada started the run; another person has to approve.');
});

test('questions that are too long for the page hide no other, and are decided on pages of their own', async () => {
  const long = Array.from({ length: 20 }, (_, at) =>
    approval({ id: `long${at}`, question: `Restart ${at}? ${'x'.repeat(250_000)}`, expires_at: iso(NOW + at) }),
  );
  const { get } = await pagesWith({
    approvals: [...long, approval({ id: 'short', question: 'Drain db-1?', expires_at: iso(NOW + 99_000) })],
  });
  const page = await get('/ui/approvals');
  expect(page).toContain('21 questions wait');
  expect(page).toContain('<p class="question">Drain db-1?</p>');
  expect(page.match(/href="\/ui\/approvals\/long\d+">Open this one<\/a> to read it and decide/g)).toHaveLength(20);
  expect(page.length).toBeLessThan(200_000);
  const alone = await get('/ui/approvals/long7');
  expect(alone).toContain(`Restart 7? ${'x'.repeat(250_000)}</p>`);
  expect(alone).toContain('action="/ui/approvals/long7"');
});

const nested = (value: unknown, levels: number): unknown => (levels === 0 ? value : nested([value], levels - 1));
/** 42 KB, of which indentation would make 2.5 MB. */
const DEEP = nested(Array(21_000).fill(1), 58);
const call = (id: string, input: unknown) =>
  approval({
    id,
    kind: 'tool',
    step_name: 'triage',
    tool: { agent: 'a', server: 's', tool: 't', input, input_sha256: 'x', reason: null },
  });

test.each(['/ui/approvals', '/ui/runs/r1?step=triage', '/ui/runs/r1?step=triage&tab=tools'])(
  '%s with 64 deep inputs is small, shows what has room whole, and leads to each of the others',
  async (url) => {
    const calls = Array.from({ length: 64 }, (_, at) => call(`call${at}`, DEEP));
    const { get } = await pagesWith({ approvals: calls, details: [runDetail({ id: 'r1', status: 'running' })] });
    const page = await get(url);
    expect(page.length).toBeLessThan(350_000);
    expect(page.match(/action="\/ui\/approvals\/call\d+"/g)).toHaveLength(2);
    expect(page.split(JSON.stringify(DEEP))).toHaveLength(3);
    expect(page.match(/href="\/ui\/approvals\/call\d+">Open this one/g)).toHaveLength(
      url === '/ui/approvals' ? 48 : 62,
    );
    expect(await get('/ui/approvals/call63')).toContain(JSON.stringify(DEEP));
  },
);

test('a decided question that has no room says that it is too long, not that others need the room', async () => {
  const approvals = [
    approval({ id: 'long', step_name: 'triage', question: 'x'.repeat(300_000), status: 'approved', decided_by: 'ada' }),
  ];
  const { get } = await pagesWith({ approvals, details: [runDetail({ id: 'r1' })] });
  const page = await get('/ui/runs/r1?step=triage');
  expect(page).toContain(
    'Approved. It is too long to be shown here. <a class="link" href="/ui/approvals/long">Open it</a>',
  );
  expect(page).not.toContain('no room for all questions');
});

test('inputs that grow past the room are tried five times, not all', async () => {
  const input = 'a"b'.repeat(12_000);
  let read = 0;
  const counted = { toJSON: () => ((read += 1), input) };
  const { get } = await pagesWith({ approvals: Array.from({ length: 40 }, (_, at) => call(`call${at}`, counted)) });
  const page = await get('/ui/approvals');
  expect(page).not.toContain('action="/ui/approvals/call');
  expect(read).toBeLessThan(5 * 4);
});

test('those that expire first are on the first page, whoever asked last, and all others on the next ones', async () => {
  const many = Array.from({ length: 60 }, (_, at) =>
    approval({ id: `new${at}`, expires_at: iso(NOW + 86_400_000 + at), requested_at: iso(NOW) }),
  );
  const urgent = approval({ id: 'urgent', expires_at: iso(NOW + 1000), requested_at: iso(NOW - 9000) });
  const { get } = await pagesWith({ approvals: [...many, urgent] });
  const idsOn = (page: string) => [...page.matchAll(/id="ask-(\w+)"/g)].map(([, id]) => id);
  const first = await get('/ui/approvals');
  expect(idsOn(first).slice(0, 2)).toEqual(['urgent', 'new0']);
  expect(first).toContain('href="/ui/approvals?page&#x3D;2"');
  expect(first).toContain('1–50 of 61');
  const second = await get('/ui/approvals?page=2');
  expect(new Set([...idsOn(first), ...idsOn(second)]).size).toBe(61);
  expect(second).toContain('51–61 of 61');
});

test('every page counts those that wait and reads none of them', async () => {
  const { deps, get } = await pagesWith({ approvals: [approval()] });
  deps.approvals.list = () => expect.unreachable('read');
  expect(await get('/ui/pipelines')).toContain('<title>(1) Pipelines');
});

test('the page of one approval shows what was asked and decided; of an unknown one it leads on', async () => {
  const ended = approval({ status: 'approved', decided_by: 'grace', decided_at: iso(NOW), answers: { replicas: 4 } });
  const { get } = await pagesWith({ approvals: [ended] });
  const page = await get(`/ui/approvals/${ended.id}`);
  expect(page).toContain('Restart the checkout?');
  expect(page).toContain('approved by grace');
  expect(page).not.toContain('data-decision-form');
  expect(await get('/ui/approvals/nothing')).toContain('There is no such approval');
});

test('a run with more questions than are read says where the others wait', async () => {
  const asked = Array.from({ length: 201 }, (_, at) => approval({ id: `q${at}`, step_name: 'triage' }));
  const site = await pagesWith({ approvals: asked, details: [runDetail({ id: 'r1', status: 'running' })] });
  expect(await site.get('/ui/runs/r1')).toContain('More questions of this run wait');
  const one = await pagesWith({ approvals: asked.slice(1), details: [runDetail({ id: 'r1', status: 'running' })] });
  expect(await one.get('/ui/runs/r1')).not.toContain('More questions of this run wait');
});
