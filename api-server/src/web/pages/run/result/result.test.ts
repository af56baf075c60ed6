import { expect, test } from 'vitest';
import { pagesWith } from '../../fixtures/pages-with.ts';
import { HOSTILE, runDetail, runLine, stepDetail } from '../../fixtures/runs.ts';

const RESULT = {
  step_name: 'triage',
  conclusion: 'The deploy broke…',
  actions: [{ name: 'recommended_action', value: 'roll back' }],
  trust: 0.35,
  threshold: 0.75,
};
const escalated = {
  status: 'escalated' as const,
  result: RESULT,
  error: { step: 'triage', message: 'Not passed: trust 0.35 against 0.75.' },
};

test('a run begins with its whole conclusion and the proposed action, before the alert', async () => {
  const run = runDetail({ ...escalated, steps: [stepDetail({ summary: 'The deploy broke the payment client.' })] });
  const { body } = await (await pagesWith({ details: [run] })).get(`/ui/runs/${run.id}`);
  expect(body).toContain('<p class="conclusion">The deploy broke the payment client.</p>');
  expect(body).toContain('<div><dt>recommended action</dt><dd>roll back</dd></div>');
  const places = ['id="result"', 'id="alert"', 'id="graph"', '<details class="context">'].map((part) =>
    body.indexOf(part),
  );
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places[0]).toBeGreaterThan(0);
});

test('a run that no agent has answered has no conclusion', async () => {
  const run = runDetail({ result: null, steps: [] });
  expect((await (await pagesWith({ details: [run] })).get(`/ui/runs/${run.id}`)).body).not.toContain('id="result"');
});

test.each(['/ui/runs', '/ui/'])(
  '%s says why a run did not complete, what it concluded and what it proposes',
  async (url) => {
    const lines = [runLine({ ...escalated, attention: 'open' })];
    const { body } = await (await pagesWith({ lines })).get(url);
    expect(body).toContain('>triage: Not passed: trust 0.35 against 0.75.</span>');
    expect(body).toContain('<span class="concluded">The deploy broke…</span>');
    expect(body).toContain('<span class="faint">recommended action</span> roll back');
  },
);

test('a completed run gives no reason, and hostile texts stay texts', async () => {
  const result = { ...RESULT, step_name: HOSTILE, conclusion: HOSTILE, actions: [{ name: HOSTILE, value: HOSTILE }] };
  const error = { step: HOSTILE, message: HOSTILE };
  const lines = [
    runLine({ error: { step: null, message: 'old' } }),
    runLine({ id: '1', status: 'failed', error, result }),
  ];
  const { body } = await (await pagesWith({ lines })).get('/ui/runs');
  expect(body).not.toContain('>old<');
  expect(body).not.toContain('<img src=x');
});
