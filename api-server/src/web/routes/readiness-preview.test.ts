import { promptHash } from '@signalbox/crds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MANIFEST, pipelineYaml } from '../../definitions/fixtures/folders.ts';
import { createPreviews } from '../../service/readiness/preview.ts';
import { type DefinitionServer, startDefinitionServer } from '../fixtures/definitions.ts';
import { readinessDeps } from '../fixtures/server.ts';
import { NOW } from '../fixtures/store.ts';

const HASH = promptHash('What happened? {{summary}}');
const clock = { now: NOW };
let server: DefinitionServer;

beforeEach(async () => {
  clock.now = NOW;
  const later: { preview?: ReturnType<typeof createPreviews> } = {};
  server = await startDefinitionServer({
    fill: (disk) => {
      disk.write(
        'pipelines/checkout.yaml',
        pipelineYaml('checkout', 'stage: production\nreadiness: {operational: {}}\n'),
      );
      disk.write('managed/pipelines/from-git.yaml', pipelineYaml('from-git'));
      disk.write('managed/manifest.json', MANIFEST);
    },
    deps: {
      preview: (request) => {
        later.preview ??= createPreviews({ ...readinessDeps(server.store), now: () => clock.now });
        return later.preview(request);
      },
    },
  });
  for (const n of [1, 2]) {
    const run = await server.store.addRun(n);
    await server.store.addStep(run, 'look', { prompt_hash: HASH });
  }
});
afterEach(() => server.close());
const everything = async () => JSON.stringify([server.disk.contents(), await server.store.contents()]);

const ask = (body: unknown, name = 'checkout') =>
  server.send('POST', `/pipelines/${name}/promotion-readiness/preview`, body as object, 'viewer');

test('a preview answers the evaluation, where it would hold and the YAML for it', async () => {
  const { status, body } = await ask({ readiness: { operational: { min_runs: 2 } }, apply_to: null });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    pipeline_name: 'checkout',
    pipeline_stage: 'production',
    evidence_stage: 'production',
    verdict: 'ready',
    summary: { ready: 1, total: 1 },
    steps: [
      { step_name: 'look', criteria: { operational: { min_runs: 2, min_success_rate: 0.95, source: 'pipeline' } } },
    ],
    applied_to: ['look'],
    scope: 'pipeline',
    yaml_snippet: 'readiness:\n  operational:\n    min_runs: 2\n',
    yaml_snippet_indented: 'readiness:\n  operational:\n    min_runs: 2\n',
    yaml_target_hint: 'In checkout.yaml, pipeline "checkout": in place of line 3.',
    evidence_gathered_at: '2026-11-21T12:00:00.000Z',
    evidence_cache_hit: false,
  });
});

test('nothing is written', async () => {
  const before = await everything();
  await ask({ readiness: { operational: { min_runs: 2 } }, apply_to: ['look'] });
  expect(await everything()).toBe(before);
});

test('criteria for named steps leave the others as they are', async () => {
  const { body } = await ask({ readiness: { accuracy: { min_marked: 10 } }, apply_to: ['look'] });
  expect(body).toMatchObject({
    verdict: 'building',
    applied_to: ['look'],
    scope: 'step',
    yaml_snippet_indented: '    readiness:\n      accuracy:\n        min_marked: 10\n',
    yaml_target_hint: 'In checkout.yaml, step "look": below line 5.',
    steps: [{ criteria: { operational: { source: 'pipeline' }, accuracy: { min_marked: 10, source: 'step' } } }],
  });
});

test('evidence is kept for 30 seconds for previews, and for nothing else', async () => {
  const what = { readiness: { operational: { min_runs: 2 } } };
  await ask(what);
  clock.now = NOW + 29_000;
  expect((await ask({ readiness: { operational: { min_runs: 3 } } })).body).toMatchObject({
    verdict: 'building',
    evidence_cache_hit: true,
    evidence_gathered_at: '2026-11-21T12:00:00.000Z',
  });
  clock.now = NOW + 31_000;
  expect((await ask(what)).body).toMatchObject({
    evidence_cache_hit: false,
    evidence_gathered_at: '2026-11-21T12:00:31.000Z',
  });
});

test.each([
  [{ readiness: { operational: { min_runs: 0 } } }, ['body', 'readiness', 'operational', 'min_runs']],
  [{ readiness: { operational: { min_run: 1 } } }, ['body', 'readiness', 'operational']],
  [{ readiness: { speed: {} } }, ['body', 'readiness']],
  [{ readiness: { accuracy: { min_accuracy: '0.9' } } }, ['body', 'readiness', 'accuracy', 'min_accuracy']],
  [{ readiness: null }, ['body', 'readiness']],
  [{}, ['body', 'readiness']],
  [[], ['body']],
  [{ readiness: {}, apply_to: [] }, ['body', 'apply_to']],
  [{ readiness: {}, apply_to: 'look' }, ['body', 'apply_to']],
  [{ readiness: {}, stage: 'testing' }, ['body']],
])('%j is 422 and says where', async (payload, loc) => {
  const { status, body } = await ask(payload);
  expect(status).toBe(422);
  expect(body.detail).toMatchObject({ type: 'unprocessable', message: expect.any(String) });
  expect(body.detail.errors[0]).toEqual({ loc: expect.arrayContaining(loc), msg: expect.any(String) });
});

test('a step that is not there is 400, a pipeline that is not there 404', async () => {
  expect(await ask({ readiness: {}, apply_to: ['look', 'nobody'] })).toMatchObject({
    status: 400,
    body: { detail: { type: 'validation', message: 'apply_to: pipeline "checkout" has no step "nobody"' } },
  });
  expect(await ask({ readiness: {} }, 'nobody')).toMatchObject({
    status: 404,
    body: { detail: { type: 'not_found' } },
  });
});

test('what comes from a custom resource is to be changed there', async () => {
  const { body } = await ask({ readiness: { accuracy: {} }, apply_to: ['look'] }, 'from-git');
  expect(body.yaml_target_hint).toContain('In the Pipeline object that "from-git" comes from');
  expect(body.yaml_snippet_indented).toBe('      readiness:\n        accuracy: {}\n');
});
