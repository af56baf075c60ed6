import { available } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { pagesWith } from './fixtures/pages-with.ts';

const STEP = { name: 'observe', executor: 'gateway', agent: 'reader' };
const pipeline = { name: 'host-load', file: 'a.yaml', text: '', hash: 'h', config: { steps: [STEP] } };
const agents = {
  agents: ['reader', 'triage'].map((name) => ({ name, executor: 'gateway' as const, model: null })),
  errors: {},
};

test.each([
  ['agents', 'Unknown agent nosuch', 'Available: reader, triage.'],
  ['steps', 'Unknown step nosuch', 'Available: observe.'],
  ['pipelines', 'Unknown pipeline nosuch', 'Available: host-load.'],
])('an unknown name below /ui/%s says which there are', async (place, said, names) => {
  const world = { definitions: { pipelines: [pipeline] }, agents, agentVersions: undefined };
  const { get } = await pagesWith(world);
  const { statusCode, body } = await get(`/ui/${place}/nosuch`);
  expect(statusCode).toBe(404);
  expect(body).toContain(said);
  expect(body).toContain(names);
});

test.each([
  ['agents/raeder', 'Did you mean reader? Available: reader, triage.'],
  ['steps/observ', 'Did you mean observe? Available: observe.'],
  ['pipelines/host-laod', 'Did you mean host-load? Available: host-load.'],
])('/ui/%s says which name was probably meant', async (place, said) => {
  const world = { definitions: { pipelines: [pipeline] }, agents, agentVersions: undefined };
  const { get } = await pagesWith(world);
  expect((await get(`/ui/${place}`)).body).toContain(said);
});

test('of many names some are said', () => {
  expect(available([])).toBe('None is available.');
  expect(available(Array.from({ length: 15 }, (_, at) => `n${at}`))).toMatch(/^Available: n0, .* and 3 more\.$/);
});

test.each([
  ['steps', 'The library is empty', 'executor: gateway'],
  ['agents', 'No agent is reachable', 'GATEWAY_URL/health'],
  ['pipelines', 'No pipeline is loaded', 'Write and validate a pipeline'],
])('a list without %s says what to do next', async (place, title, next) => {
  const { get } = await pagesWith();
  const { body } = await get(`/ui/${place}`);
  expect(body).toContain(title);
  expect(body).toContain(next);
});
