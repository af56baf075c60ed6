import { expect, test } from 'vitest';
import { snapshotOf, VIEWER } from '../fixtures/fake-deps.ts';
import { pagesWith } from '../fixtures/pages-with.ts';
import { runLine } from '../fixtures/runs.ts';
import { gotoResults } from './results.ts';

const STEP = { name: 'observe', executor: 'gateway', agent: 'machine-reader' };
const pipeline = (name: string) => ({ name, file: 'a.yaml', text: '', hash: 'h', config: { steps: [STEP] } });
const world = {
  definitions: { pipelines: [pipeline('high-load'), pipeline('load'), pipeline('disk')] },
  agents: { agents: [{ name: 'loader', executor: 'gateway', model: null }], errors: {} },
  lines: [runLine({ id: '01a2-the-run', summary: 'Load is high' })],
};
const labels = (html: string) => [...html.matchAll(/<span class="ellipsis">([^<]*)</g)].map(([, label]) => label);

test('the palette lists pages, pipelines and steps; the name itself comes first', async () => {
  const { get } = await pagesWith(world);
  const ask = async (q: string) => labels((await get(`/ui/goto?q=${q}`)).body);
  expect((await ask(''))[0]).toBe('Overview');
  expect(await ask('load')).toEqual(['load', 'loader', 'high-load', 'Run high-load', 'Run load']);
  expect(await ask('obs')).toEqual(['observe']);
  expect(await ask('api ref')).toEqual(['API reference']);
});

test('a run is found by the beginning of its id; what is not there is said', async () => {
  const { get } = await pagesWith(world);
  const { body, headers } = await get('/ui/goto?q=01a2');
  expect(labels(body)).toEqual(['Load is high']);
  expect(body).toContain('href="/ui/runs/01a2-the-run"');
  expect(body).not.toContain('<html');
  expect(headers['cache-control']).toBe('no-store');
  expect((await get('/ui/goto?q=zzz')).body).toContain('Nothing is named “zzz”');
});

test('a search does not go through the steps of all pipelines again', () => {
  let reads = 0;
  const definitions = snapshotOf({ pipelines: [pipeline('load')] });
  const config = Object.defineProperty({}, 'steps', { get: () => ((reads += 1), [STEP]) });
  Object.assign(definitions.pipelines[0]!, { config });
  const found = (q: string, operator: boolean) =>
    gotoResults({ q, definitions, agents: [], runs: [], operator }).map(({ label }) => label);
  expect([found('obs', true), found('load', true), found('load', false)]).toEqual([
    ['observe'],
    ['load', 'Run load'],
    ['load'],
  ]);
  expect(reads).toBe(1);
});

test('a viewer is offered no run to start; without a session nothing is listed', async () => {
  const reader = await pagesWith({ ...world, viewer: { ...VIEWER, role: 'viewer' } });
  expect((await reader.get('/ui/goto?q=run')).body).not.toContain('Run load');
  const nobody = await pagesWith({ ...world, viewer: null });
  expect((await nobody.get('/ui/goto?q=run')).statusCode).toBe(303);
});

test('however much is loaded, the answer is short', async () => {
  const pipelines = Array.from({ length: 500 }, (_, at) => pipeline(`pipeline-${at}`));
  const { get } = await pagesWith({ ...world, definitions: { pipelines } });
  expect(labels((await get('/ui/goto?q=pipeline')).body)).toHaveLength(20);
});
