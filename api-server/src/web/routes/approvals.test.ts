import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { Decision } from '../../service/approvals/decisions.ts';
import type { Approval } from '../../runs/human/approval.ts';
import { insertApproval } from '../../store/tables/approvals.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW, runIdOf } from '../fixtures/store.ts';

let server: TestServer;
let next = 1;
beforeAll(async () => {
  server = await startTestServer();
  await server.store.addRun(1, { status: 'running' });
});
afterAll(() => server.close());
beforeEach(() => void next++);

const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const ask = async (more: Partial<Approval> = {}, of = server) => {
  const approval: Approval = {
    id: idOf(next),
    runId: runIdOf(1),
    stepName: 'approve',
    kind: 'step',
    pipelineName: 'checkout',
    team: 'payments',
    stage: 'production',
    question: 'Restart checkout?',
    fields: [{ name: 'replicas', type: 'integer', required: true, default: 2 }],
    tool: null,
    status: 'pending',
    requestedAt: NOW + next,
    expiresAt: NOW + 60_000,
    decidedAt: null,
    decidedBy: null,
    comment: null,
    answers: null,
    required: 1,
    notTheStarter: false,
    votes: [],
    ...more,
  };
  await of.store.database.write((tx) => insertApproval(tx, approval));
  return approval.id;
};
const decide = (id: string, payload: object, role: 'operator' | 'admin' | 'viewer' = 'operator') =>
  server.app.inject({ method: 'POST', url: `/approvals/${id}`, payload, headers: as(role) });
const list = async (query = '') =>
  (await server.app.inject({ url: `/approvals${query}`, headers: as('viewer') })).json<{
    approvals: { id: string; status: string }[];
    total: number;
  }>();
const auditRows = (id: string) =>
  server.store.database.db.selectFrom('audit').selectAll().where('target', 'like', `${id}%`).execute();

test('a decision is answered with the approval, audited, and the second one hears who was first', async () => {
  const id = await ask();
  const first = await decide(id, { decision: 'approve', fields: { replicas: 3 }, comment: ' fine ' });
  expect([first.statusCode, first.json()]).toMatchObject([
    200,
    {
      id,
      run_id: runIdOf(1),
      pipeline: 'checkout',
      status: 'approved',
      decided_by: 'the-operator',
      comment: 'fine',
      answers: { replicas: 3 },
      decided_at: new Date(NOW).toISOString(),
    },
  ]);
  const second = await decide(id, { decision: 'reject' }, 'admin');
  expect([second.statusCode, second.json()]).toEqual([
    409,
    {
      detail: {
        type: 'conflict',
        message: 'already approved by the-operator',
        status: 'approved',
        decided_by: 'the-operator',
      },
    },
  ]);
  expect(await auditRows(id)).toMatchObject([
    { actor: 'the-operator', actor_kind: 'token', role: 'operator', action: 'approve', run_id: runIdOf(1) },
  ]);
});

test('the audit log finds a decision by what was decided and by its run', async () => {
  const id = await ask();
  await decide(id, { decision: 'reject' });
  const url = `/audit?action=reject&target=${runIdOf(1)}`;
  const { rows } = (await server.app.inject({ url, headers: as('viewer') })).json<{ rows: { target: string }[] }>();
  expect(rows.map(({ target }) => target)).toContainEqual(expect.stringMatching(`^${id} approve sha256:`));
});

test('sixteen requests at once: one 200, fifteen 409, one audit row', async () => {
  const id = await ask();
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, at) => decide(id, { decision: at % 2 ? 'approve' : 'reject' })),
  );
  const codes = answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b);
  expect(codes).toEqual([200, ...Array.from({ length: 15 }, () => 409)]);
  expect(await auditRows(id)).toHaveLength(1);
});

test.each([
  [
    'a type that does not fit',
    { decision: 'approve', fields: { replicas: 'many' } },
    'body.fields.replicas: must be of type integer',
  ],
  [
    'an unknown field',
    { decision: 'approve', fields: { other: 1 } },
    'body.fields.other: is not a field of this approval',
  ],
  ['no decision', {}, null],
  ['another decision', { decision: 'maybe' }, null],
  ['an unknown key', { decision: 'approve', force: true }, null],
  ['a field that is a list', { decision: 'approve', fields: { replicas: [1] } }, null],
  ['a comment that is too long', { decision: 'approve', comment: 'x'.repeat(4_001) }, null],
])('%s is a validation error and decides nothing', async (_, payload, message) => {
  const id = await ask();
  const answer = await decide(id, payload);
  expect([answer.statusCode, answer.json<{ detail: { type: string } }>().detail.type]).toEqual([400, 'validation']);
  if (message) expect(answer.json()).toMatchObject({ detail: { message } });
  expect((await list()).approvals.find((one) => one.id === id)?.status).toBe('pending');
});

test('more fields than there can be are refused, and take no time', async () => {
  const many = (length: number) => ({
    decision: 'approve',
    fields: Object.fromEntries(Array.from({ length }, (_, index) => [index.toString(36), []])),
  });
  const answer = await decide(await ask(), many(65));
  expect([answer.statusCode, answer.json()]).toMatchObject([
    400,
    { detail: { message: 'body.fields: has more than 64 keys' } },
  ]);
  const body = many(100_000);
  const before = process.threadCpuUsage();
  expect(Decision.safeParse(body).success).toBe(false);
  expect(process.threadCpuUsage(before).user).toBeLessThan(300_000);
});

test('an unknown approval is 404, an expired one 409', async () => {
  expect((await decide(idOf(999_999), { decision: 'approve' })).statusCode).toBe(404);
  expect((await decide('nonsense', { decision: 'approve' })).statusCode).toBe(404);
  const id = await ask({ expiresAt: NOW });
  const late = await decide(id, { decision: 'approve' });
  expect([late.statusCode, late.json()]).toMatchObject([
    409,
    { detail: { type: 'conflict', status: 'timed_out', decided_by: null } },
  ]);
  expect(await auditRows(id)).toEqual([]);
});

test('the list begins with what waits and expires first, takes a status, and pages across both halves', async () => {
  const waiting = await ask({ expiresAt: 1 });
  next++;
  await ask();
  next++;
  const decided = await ask();
  await decide(decided, { decision: 'reject' });
  const { approvals, total } = await list('?limit=200');
  const firstEnded = approvals.findIndex(({ status }) => status !== 'pending');
  expect(approvals.slice(firstEnded).every(({ status }) => status !== 'pending')).toBe(true);
  expect(approvals[0]?.id).toBe(waiting);
  expect((await list('?status=rejected')).approvals.map(({ id }) => id)).toContain(decided);
  const pages = [];
  for (let offset = 0; offset < total; offset += 2) pages.push(...(await list(`?limit=2&offset=${offset}`)).approvals);
  expect(pages).toEqual(approvals);
});

test('a list with long questions ends before its limit, and the next offset goes on', async () => {
  const { total: before } = await list('?limit=1');
  const asked: string[] = [];
  for (let index = 0; index < 20; index++, next++) asked.push(await ask({ question: 'x'.repeat(250_000) }));
  const seen: string[] = [];
  for (let page = 0; page < 2; page++) {
    const { approvals } = await list(`?limit=200&offset=${seen.length}`);
    expect(JSON.stringify(approvals).length).toBeLessThan(4.5 * 1024 * 1024);
    seen.push(...approvals.map(({ id }) => id));
  }
  expect(new Set(seen).size).toBe(before + 20);
  expect(asked.every((id) => seen.includes(id))).toBe(true);
});

test('named approvers decide, two of them where two are needed', async () => {
  const approvers = new Map([['default', [['the-operator'], ['the-admin']]]]);
  const two = await startTestServer({ rules: { approvers, required: 2, notTheStarter: false } });
  onTestFinished(() => two.close());
  await two.store.addRun(1, { status: 'running' });
  const id = await ask({ required: 2, team: null, fields: [] }, two);
  const post = (role: 'operator' | 'admin') =>
    two.app.inject({ method: 'POST', url: `/approvals/${id}`, payload: { decision: 'approve' }, headers: as(role) });
  const first = await post('operator');
  expect([first.statusCode, first.json()]).toMatchObject([
    200,
    { status: 'pending', required: 2, approved_by: ['the-operator'], approvers: ['the-operator', 'the-admin'] },
  ]);
  const again = await post('operator');
  expect([again.statusCode, again.json().detail.type]).toEqual([403, 'forbidden']);
  const second = await post('admin');
  expect([second.statusCode, second.json()]).toMatchObject([
    200,
    { status: 'approved', decided_by: 'the-operator, the-admin' },
  ]);
});
