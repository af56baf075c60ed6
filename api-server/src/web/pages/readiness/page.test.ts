import { expect, test } from 'vitest';
import { pagesWith } from '../fixtures/pages-with.ts';
import { readinessReport, readinessStep } from '../fixtures/readiness.ts';
import { HOSTILE } from '../fixtures/runs.ts';

const entry = {
  name: 'host-load',
  file: 'host-load.yaml',
  text: 'name: host-load\n',
  hash: 'h',
  config: { steps: [] },
};
const definitions = { pipelines: [entry] };

async function pageOf(world: Parameters<typeof pagesWith>[0] = {}) {
  const { deps, get } = await pagesWith({ definitions, readiness: readinessReport([readinessStep()]), ...world });
  return { deps, get: (query = '') => get(`/ui/pipelines/host-load${query}`) };
}

test('the form works without script and changes nothing', async () => {
  const { get, deps } = await pageOf();
  const { body } = await get();
  expect(body).toContain('<form class="what-if-form" action="/ui/pipelines/host-load#readiness">');
  expect(deps.tries).toEqual([]);
  await get('?whatif=1&accuracy=on&accuracy.min_marked=10&apply_to=look');
  expect(deps.tries).toMatchObject([
    { pipeline: 'host-load', asked: { apply_to: ['look'] }, written: { accuracy: { min_marked: 10 } } },
  ]);
});

test('criteria that do not fit are told beside the form', async () => {
  const { get } = await pageOf();
  const query = new URLSearchParams({ whatif: '1', accuracy: 'on', 'accuracy.min_marked': '0', apply_to: HOSTILE });
  const { statusCode, body } = await get(`?${query}`);
  expect(statusCode).toBe(200);
  expect(body).toMatch(/<code>accuracy.min_marked<\/code>\s+must be/);
  expect(body).not.toContain('<script>alert');
  expect(body).toContain('value="0"');
});

test('every cell of the matrix says its tier, its verdict and its number as text', async () => {
  const { get } = await pageOf();
  const { body } = await get();
  expect(body).toMatch(/title="all is well\.">\s*<span class="matrix-label" aria-hidden="true">Accuracy<\/span>/);
  expect(body).toContain('<span class="note num">95% right</span>');
  expect(body).toContain('1 of 1 step ready: it is ready for production.');
});

test('a pipeline without evidence says what is missing and what brings it', async () => {
  const step = readinessStep({ verdict: 'no_data' });
  const { get } = await pageOf({
    readiness: readinessReport([step], { verdict: 'no_data', pipeline_stage: 'testing' }),
  });
  const { body } = await get();
  expect(body).toContain('No step has run with its present prompt and agent version at stage testing.');
  expect(body).toContain('run the pipeline, or wait for its next alerts');
});
