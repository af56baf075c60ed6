import { expect, test } from 'vitest';
import { VIEWER } from './fixtures/fake-deps.ts';
import { pagesWith } from './fixtures/pages-with.ts';
import { runDetail, unmarkedLine } from './fixtures/runs.ts';

test('a mark reaches the run or the step and leads back to where it was made', async () => {
  const { post, deps, get } = await pagesWith({ details: [runDetail()] });
  const url = `/ui/runs/${runDetail().id}/feedback`;
  const answer = await post(url, { _csrf: VIEWER.csrf, outcome: 'partial', step: 'triage', notes: ' close ' });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, `/ui/runs/${runDetail().id}?step=triage`]);
  await post(url, { _csrf: VIEWER.csrf, outcome: 'correct' });
  expect(deps.marks).toMatchObject([
    { stepName: 'triage', mark: { outcome: 'partial', notes: 'close' } },
    { stepName: null, mark: { outcome: 'correct', notes: null } },
  ]);
  const { body } = await get(`/ui/runs/${runDetail().id}`);
  expect(body).toMatch(/value="correct" class="mark-correct"\s+aria-pressed="true"/);
});

test('a mark is withdrawn where it is shown, and then no button withdraws it', async () => {
  const { post, deps, get } = await pagesWith({ details: [runDetail()] });
  const page = `/ui/runs/${runDetail().id}`;
  await post(`${page}/feedback`, { _csrf: VIEWER.csrf, outcome: 'correct' });
  expect((await get(page)).body).toContain('Withdraw the mark');
  const answer = await post(`${page}/feedback`, { _csrf: VIEWER.csrf, outcome: 'withdraw' });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, page]);
  expect(deps.marks.at(-1)).toMatchObject({ stepName: null, mark: null, actor: { name: 'ada' } });
  expect((await get(page)).body).not.toContain('Withdraw the mark');
  await post(`${page}/feedback`, { _csrf: VIEWER.csrf, outcome: 'correct', step: 'triage' });
  await post(`${page}/feedback`, { _csrf: VIEWER.csrf, outcome: 'withdraw', step: 'triage' });
  expect(deps.marks.at(-1)).toMatchObject({ stepName: 'triage', mark: null });
  const twice = await post(`${page}/feedback`, { _csrf: VIEWER.csrf, outcome: 'withdraw', step: 'triage' });
  expect([twice.statusCode, twice.headers.location]).toEqual([303, `${page}?step=triage`]);
});

test('a mark in the queue leads back into the queue, and to no other site', async () => {
  const { post, get } = await pagesWith({ details: [runDetail()], unmarked: { steps: [unmarkedLine()], more: false } });
  const queue = '/ui/marking?pipeline=checkout-errors';
  const { body } = await get(queue);
  expect(body).toContain(`name="next" value="${queue.replace('=', '&#x3D;')}"`);
  const url = `/ui/runs/${runDetail().id}/feedback`;
  const form = { _csrf: VIEWER.csrf, outcome: 'correct', step: 'triage' };
  expect((await post(url, { ...form, next: queue })).headers.location).toBe(queue);
  expect((await post(url, { ...form, next: 'https://evil.example' })).headers.location).toBe('/ui/');
});

test('a viewer sees the queue without buttons; an empty one says what fills it', async () => {
  const viewer = { ...VIEWER, role: 'viewer' as const };
  const { get } = await pagesWith({ viewer, unmarked: { steps: [unmarkedLine()], more: false } });
  const { body } = await get('/ui/marking');
  expect(body).toContain('1 result to mark');
  expect(body).not.toContain('name="outcome"');
  const empty = await pagesWith({});
  expect((await empty.get('/ui/marking')).body).toContain('No answer to mark');
  expect((await empty.get('/ui/marking?stage=testing')).body).toContain('No answer matches these filters');
});

test.each([
  ['without the CSRF token', {}, VIEWER, 403],
  ['with a foreign CSRF token', { _csrf: 'other' }, VIEWER, 403],
  ['by a viewer', { _csrf: VIEWER.csrf }, { ...VIEWER, role: 'viewer' as const }, 403],
  ['with an unknown outcome', { _csrf: VIEWER.csrf, outcome: 'great' }, VIEWER, 400],
])('a mark %s is refused and stores nothing', async (_name, fields, viewer, status) => {
  const { post, deps } = await pagesWith({ details: [runDetail()], viewer });
  const answer = await post(`/ui/runs/${runDetail().id}/feedback`, { outcome: 'correct', ...fields });
  expect([answer.statusCode, deps.marks]).toEqual([status, []]);
});

test('a step that still runs cannot be marked, and the page says so', async () => {
  const run = runDetail();
  const steps = run.steps.map((step) => ({ ...step, status: 'running' as const }));
  const { post, deps } = await pagesWith({ details: [{ ...run, steps }] });
  const form = { _csrf: VIEWER.csrf, outcome: 'correct', step: 'triage' };
  const answer = await post(`/ui/runs/${run.id}/feedback`, form);
  expect([answer.statusCode, deps.marks]).toEqual([409, []]);
  expect(answer.body).toContain('The step is still running.');
});
