import { expect, test } from 'vitest';
import { VIEWER } from '../../fixtures/fake-deps.ts';
import { pagesWith } from '../../fixtures/pages-with.ts';
import { runDetail, runLine } from '../../fixtures/runs.ts';

const open = runDetail({ status: 'escalated', attention: 'open' });
const page = async (run = open, viewer = VIEWER) =>
  (await (await pagesWith({ details: [run], viewer })).get(`/ui/runs/${run.id}`)).body;

test('a run that needs people says who looks at it', async () => {
  expect(await page()).toContain('Nobody has acknowledged this run yet.');
  const acknowledged = {
    ...open,
    attention: 'acknowledged' as const,
    assignee: 'ana',
    acknowledged_by: 'on-call',
    acknowledged_at: '2026-11-21T11:58:00.000Z',
    attention_note: 'Looking at the pool.',
  };
  const body = await page(acknowledged);
  expect(body).toContain('by on-call on 2026-11-21 11:58:00 UTC, assigned to ana.');
  expect(body).toContain('Looking at the pool.');
  expect(await page(runDetail())).not.toContain('id="attention"');
});

test('a resolved run says how, by whom and when in one sentence', async () => {
  const resolved = { attention: 'resolved', resolution: 'wont_fix', resolved_by: 'ana' } as const;
  expect(await page({ ...open, ...resolved, resolved_at: '2026-11-21T11:58:00.000Z' })).toContain(
    'Will not fix, by ana on 2026-11-21 11:58:00 UTC.',
  );
});

test('an operator acts on it from its page, a viewer has no form', async () => {
  expect(await page(open, { ...VIEWER, role: 'viewer' })).not.toContain('life-form');
  const { post, deps } = await pagesWith({ details: [open] });
  const send = (form: object) => post(`/ui/runs/${open.id}/attention`, { _csrf: VIEWER.csrf, ...form });
  const answer = await send({ action: 'acknowledge', assignee: ' ana ', note: '', resolution: 'handled' });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, `/ui/runs/${open.id}#attention`]);
  await send({ action: 'resolve', resolution: 'false_alarm', note: 'a restart' });
  await send({ action: 'reopen' });
  expect(deps.attended).toEqual([
    { action: 'acknowledge', runId: open.id, assignee: 'ana', note: null, by: VIEWER.name },
    { action: 'resolve', runId: open.id, resolution: 'false_alarm', note: 'a restart', by: VIEWER.name },
    { action: 'reopen', runId: open.id, note: null, by: VIEWER.name },
  ]);
  expect((await send({ action: 'resolve', resolution: 'gone' })).statusCode).toBe(400);
  expect((await send({ action: 'forget' })).statusCode).toBe(400);
  expect(deps.attended).toHaveLength(3);
});

test('lists show the state, and filter by it', async () => {
  const line = runLine({ status: 'escalated', attention: 'acknowledged', assignee: 'ana' });
  const { get } = await pagesWith({ lines: [line, runLine({ id: '0'.repeat(36), summary: 'Another' })] });
  expect((await get('/ui/runs')).body).toContain('Acknowledged, assigned to ana');
  const filtered = (await get('/ui/runs?attention=acknowledged')).body;
  expect(filtered).toContain('<option value="acknowledged" selected>Acknowledged</option>');
  expect(filtered).not.toContain('Another');
});

test('the menu and the title of every page say how much waits', async () => {
  const { get, deps } = await pagesWith({});
  expect((await get('/ui/pipelines')).body).toContain('<title>Pipelines · Signalbox</title>');
  deps.escalations.open = async () => 3;
  const { body } = await get('/ui/pipelines');
  expect(body).toContain('<title>(3) Pipelines · Signalbox</title>');
  expect(body).toMatch(/id="count-runs"[^>]*>3</);
  deps.escalations.open = () => Promise.reject(new Error('no database'));
  expect((await get('/ui/pipelines')).statusCode).toBe(200);
});
