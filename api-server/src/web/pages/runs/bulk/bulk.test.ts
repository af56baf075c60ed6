import { expect, test } from 'vitest';
import { VIEWER } from '../../fixtures/fake-deps.ts';
import { pagesWith } from '../../fixtures/pages-with.ts';
import { runDetail, runLine } from '../../fixtures/runs.ts';

const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const lines = [1, 2, 3].map((n) =>
  runLine({ id: idOf(n), summary: `Run ${n}`, status: 'escalated', attention: n === 3 ? null : 'open' }),
);

async function bulk(form: Record<string, string | string[]>, viewer = VIEWER) {
  const pages = await pagesWith({ lines, details: lines.map(({ id }) => runDetail({ id })), viewer });
  const answer = await pages.post('/ui/runs/bulk', { _csrf: VIEWER.csrf, ...form });
  return { answer, deps: pages.deps };
}
const RUNS = [idOf(1), idOf(2), idOf(3)];

test('before many runs are resolved the page says which, and what will happen', async () => {
  const { answer, deps } = await bulk({ action: 'resolve', run: RUNS });
  expect(answer.body).toContain('<h1>Resolve 3 runs</h1>');
  expect(answer.body).toContain('they no longer wait for anybody. One of these runs needs nobody');
  expect(answer.body).toContain('Run 2');
  expect(deps.attended).toEqual([]);
});

test('of one run it is said what will happen to it', async () => {
  const { answer } = await bulk({ action: 'resolve', run: [idOf(1)] });
  expect(answer.body).toContain('Closes it; it no longer waits for anybody.');
});

test('once confirmed each is resolved, and the page says what became of each', async () => {
  const { answer, deps } = await bulk({ action: 'resolve', run: RUNS, confirmed: 'yes', resolution: 'false_alarm' });
  expect(deps.attended.map(({ action, runId }) => [action, runId])).toEqual(RUNS.map((id) => ['resolve', id]));
  expect(answer.body).toContain('<h1>3 runs resolved</h1>');
});

test('a rerun says what it costs before it starts', async () => {
  const { answer } = await bulk({ action: 'rerun', run: [idOf(1), idOf(2)] });
  expect(answer.body).toMatch(/they spent about 9.196 tokens, \$0\.08\./);
});

test('runs are marked in bulk; without an outcome nothing is marked', async () => {
  const { deps } = await bulk({ action: 'mark', run: RUNS, confirmed: 'yes', outcome: 'correct' });
  expect(deps.marks.map(({ runId, mark }) => [runId, mark?.outcome])).toEqual(RUNS.map((id) => [id, 'correct']));
  const refused = await bulk({ action: 'mark', run: RUNS, confirmed: 'yes' });
  expect([refused.answer.statusCode, refused.deps.marks]).toEqual([400, []]);
});

test('marks are undone: what was marked before gets its mark again, the rest none', async () => {
  const pages = await pagesWith({
    lines: [{ ...lines[0]!, feedback_outcome: 'partial' }, lines[1]!],
    details: lines.map(({ id }) => runDetail({ id, feedback: null })),
  });
  const post = (form: Record<string, string | string[]>, path = '') =>
    pages.post(`/ui/runs/bulk${path}`, { _csrf: VIEWER.csrf, next: '/ui/runs?status=failed', ...form });
  const done = await post({ action: 'mark', run: RUNS.slice(0, 2), confirmed: 'yes', outcome: 'correct' });
  expect(done.body).toContain('<a class="button" href="/ui/runs?status&#x3D;failed">');
  const kept = [...done.body.matchAll(/name="(run|partial)" value="([^"]+)"/g)].map(([, name, id]) => [name, id]);
  expect(kept).toEqual([
    ['partial', idOf(1)],
    ['run', idOf(2)],
  ]);
  const undone = await post(Object.fromEntries(kept), '/undo');
  expect(undone.headers.location).toBe('/ui/runs?status=failed');
  expect(pages.deps.marks.slice(2).map(({ runId, mark }) => [runId, mark?.outcome ?? null])).toEqual([
    [idOf(1), 'partial'],
    [idOf(2), null],
  ]);
});

test('a viewer may compare two runs and nothing else', async () => {
  const viewer = { ...VIEWER, role: 'viewer' as const };
  const compared = await bulk({ action: 'compare', run: RUNS.slice(0, 2) }, viewer);
  expect(compared.answer.headers.location).toBe(`/ui/runs/compare?run=${idOf(1)}&run=${idOf(2)}`);
  expect((await bulk({ action: 'resolve', run: RUNS }, viewer)).answer.statusCode).toBe(403);
});

test.each([
  ['no run', { action: 'resolve' }],
  ['more than 200', { action: 'resolve', run: Array.from({ length: 201 }, (_, n) => idOf(n)) }],
  ['an unknown action', { action: 'constructor', run: RUNS }],
])('%s is refused', async (_, form) => {
  expect((await bulk(form)).answer.statusCode).toBe(400);
});
