import { expect, test } from 'vitest';
import { pagesWith } from '../fixtures/pages-with.ts';
import { runDetail, runLine, stepDetail } from '../fixtures/runs.ts';

const run = (...steps: ReturnType<typeof stepDetail>[]) => runDetail({ steps });
const pageOf = async (detail: ReturnType<typeof runDetail>, query = '') => {
  const { get } = await pagesWith({ details: [detail] });
  return (await get(`/ui/runs/${detail.id}${query}`)).body;
};

test.each([
  ['triage', '/ui/steps/triage#prompt-9c1be2f04a7d'],
  ['each/3', '/ui/steps/each#prompt-9c1be2f04a7d'],
])('the prompt of %s leads to its version', async (name, href) => {
  const page = await pageOf(run(stepDetail({ step_name: name })), `?step=${encodeURIComponent(name)}&tab=prompt`);
  expect(page).toContain(`href="${href}"`);
});

test('a long name stays within its box of the graph, whole in the markup', async () => {
  const name = 'observe-the-whole-machine-and-its-neighbours';
  const page = await pageOf(run(stepDetail({ step_name: name })));
  expect(page).toMatch(new RegExp(`<foreignObject[^>]* width="122"[^>]*><span class="node-name">${name}</span>`));
});

test('the timeline is read without script: a link a step, words for every part, a legend', async () => {
  const page = await pageOf(run(stepDetail()), '?step=triage');
  const timeline = page.slice(page.indexOf('class="timeline"'), page.indexOf('id="step"'));
  expect(timeline).toMatch(/<a class="tl-row[^>]*href="[^"]*step&#x3D;triage/);
  expect(timeline).toContain('Where the time of triage went');
  expect(timeline).toContain('metrics / query_range');
  expect(timeline).toMatch(/aria-label="Legend"[\s\S]*model[\s\S]*tool/);
});

test('branches of a fan-out stand in the order of their items', async () => {
  const branch = (n: number) => stepDetail({ step_name: `each/${n}`, kind: 'fan_out_branch', step_index: 0 });
  const group = stepDetail({ step_name: 'each', kind: 'fan_out', step_index: 0 });
  const page = await pageOf(run(group, branch(10), branch(2), branch(0)));
  const rows = [...page.matchAll(/class="tl-row[^>]*step&#x3D;each%2F(\d+)/g)].map(([, n]) => n);
  expect(rows).toEqual(['0', '2', '10']);
});

test.each([
  ['stopped', 'quiet'],
  ['escalated', 'escalated'],
  ['failed', 'bad'],
] as const)('why a step ended %s has the look of its status', async (status, tone) => {
  const error = { type: 'stopped', message: 'INC-2231 covers this alert' };
  const page = await pageOf(run(stepDetail({ status, error })), '?step=triage');
  expect(page).toMatch(new RegExp(`<p class="callout tone-${tone}">.*icon-${status}.*INC-2231 covers this alert`));
});

test('a sub-run that goes on is linked from the step that started it', async () => {
  const child = runLine({ id: 'the-child', status: 'running', completed_at: null });
  const steps = [stepDetail({ step_name: 'decide', executor: 'pipeline', status: 'running', completed_at: null })];
  const page = await pageOf(runDetail({ status: 'running', children: [child], steps }), '?step=decide');
  expect(page.match(/href="\/ui\/runs\/the-child"/g)).toHaveLength(2);
});
