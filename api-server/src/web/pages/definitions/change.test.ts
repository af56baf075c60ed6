import { AppError } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { VIEWER } from '../fixtures/fake-deps.ts';
import { pagesWith } from '../fixtures/pages-with.ts';
import { readinessReport, readinessStep } from '../fixtures/readiness.ts';
import { runLine } from '../fixtures/runs.ts';

const ADMIN = { ...VIEWER, role: 'admin' as const };
const csrf = { _csrf: VIEWER.csrf };
const ENTRY = { name: 'host-load', file: 'a.yaml', text: 'name: host-load\n', hash: 'h', config: {} };
const SUSPENDED = { ...ENTRY, name: 'paused', config: { suspend: true } };
const world = {
  viewer: ADMIN,
  definitions: { pipelines: [ENTRY, SUSPENDED] },
  readiness: readinessReport([readinessStep()]),
};

test('the last runs of a pipeline are chosen on its page, and what is done to them leads back there', async () => {
  const { get } = await pagesWith({ ...world, lines: [runLine({ pipeline_name: 'host-load' })] });
  const { body, statusCode } = await get('/ui/pipelines/host-load');
  expect(statusCode).toBe(200);
  expect(body).toContain('<input type="hidden" name="next" value="/ui/pipelines/host-load">');
});

test('an admin suspends and resumes a pipeline, and reloads all definitions', async () => {
  const { post, get, deps } = await pagesWith(world);
  expect((await get('/ui/pipelines/host-load')).body).toContain('Suspend this pipeline');
  expect((await get('/ui/pipelines/paused')).body).toContain('Resume this pipeline');
  const suspended = await post('/ui/pipelines/host-load/suspend', csrf);
  expect([suspended.statusCode, suspended.headers.location]).toEqual([303, '/ui/pipelines/host-load']);
  await post('/ui/pipelines/paused/resume', csrf);
  expect((await post('/ui/reload', csrf)).headers.location).toBe('/ui/pipelines');
  expect(deps.changes).toEqual([
    { what: 'suspend', target: 'host-load', by: 'ada' },
    { what: 'resume', target: 'paused', by: 'ada' },
    { what: 'reload', by: 'ada' },
  ]);
});

test('a pipeline that is suspended does not offer to run it first', async () => {
  const { get } = await pagesWith(world);
  const offers = async (name: string) => {
    const { body } = await get(`/ui/pipelines/${name}`);
    return [body.includes(`primary" href="/ui/pipelines/${name}/run"`), body.includes('Run it by hand')];
  };
  expect(await offers('host-load')).toEqual([true, true]);
  expect(await offers('paused')).toEqual([false, false]);
});

test('operators run a pipeline and change nothing, viewers do neither', async () => {
  const { post, get, deps } = await pagesWith({ ...world, viewer: VIEWER });
  const page = (await get('/ui/pipelines/host-load')).body;
  expect(page).toContain('/ui/pipelines/host-load/run');
  expect(page).not.toContain('Suspend');
  for (const path of ['/ui/pipelines/host-load/suspend', '/ui/reload'])
    expect((await post(path, csrf)).statusCode).toBe(403);
  expect(deps.changes).toEqual([]);
  const reader = await pagesWith({ ...world, viewer: { ...VIEWER, role: 'viewer' } });
  expect((await reader.get('/ui/pipelines/host-load')).body).not.toContain('/ui/pipelines/host-load/run');
});

test('a form without the token of the session changes nothing', async () => {
  const { post, deps } = await pagesWith(world);
  expect((await post('/ui/pipelines/host-load/suspend', { _csrf: 'other' })).statusCode).toBe(403);
  expect(deps.changes).toEqual([]);
});

test('a pipeline of a controller is read-only and names its object', async () => {
  const owner = { object: { kind: 'Pipeline' as const, namespace: 'shop', name: 'host-load' } };
  const { get } = await pagesWith({ ...world, owner });
  const { body } = await get('/ui/pipelines/host-load');
  expect(body).toContain('Pipeline shop/host-load manages this pipeline');
  expect(body).not.toContain('Suspend this pipeline');
  expect(body).not.toContain('/ui/validate?pipeline');
});

test('a refusal says what to do', async () => {
  const noChange = new AppError('managed', '"host-load" is managed by Pipeline shop/host-load; change it there');
  const { post } = await pagesWith({ ...world, noChange });
  const { statusCode, body } = await post('/ui/pipelines/host-load/suspend', csrf);
  expect(statusCode).toBe(409);
  expect(body).toContain('change it there');
});
