import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { manifest, type Objects, objectsOf } from './objects.ts';
import { applyKinds, type ControlPlane, startControlPlane } from './start-control-plane.ts';

const PLURALS = ['agents', 'librarysteps', 'pipelines'] as const;
const ASK = { executor: 'gateway', agent: 'sre-triage', prompt_template: 'Look at {{summary}}' };
const look = { name: 'look', ...ASK };

let plane: ControlPlane;
let objects: Objects;
beforeAll(async () => {
  plane = await startControlPlane();
  objects = objectsOf(plane);
  await applyKinds(plane);
});
afterAll(() => plane?.stop());

/** The API server's error for an object; empty where it accepts it. */
const refusal = (kind: string, name: string, spec: object): Promise<string> =>
  plane.kubectl(['create', '--dry-run=server', '-f', '-'], manifest(kind, name, spec)).then(
    () => '',
    (error: Error) => error.message,
  );

test.each(PLURALS)('the API server takes %s as a structural schema and serves it', async (plural) => {
  const crd = JSON.parse(await plane.kubectl(['get', 'crd', `${plural}.signalbox.dev`, '-o', 'json'])) as {
    status: { conditions: { type: string; status: string }[] };
  };
  const conditions = Object.fromEntries(crd.status.conditions.map(({ type, status }) => [type, status]));
  expect(conditions).toEqual({ NamesAccepted: 'True', Established: 'True' });
});

test('the kinds have short names and a category', async () => {
  const table = await plane.kubectl(['api-resources', '--api-group=signalbox.dev', '-o', 'wide', '--no-headers']);
  const rows = table
    .trim()
    .split('\n')
    .map((row) => row.split(/\s+/));
  expect(rows.map(([plural, short, , , kind, , category]) => [plural, short, kind, category])).toEqual([
    ['agents', 'sba', 'Agent', 'signalbox'],
    ['librarysteps', 'sbs', 'LibraryStep', 'signalbox'],
    ['pipelines', 'sbp', 'Pipeline', 'signalbox'],
  ]);
  await objects.apply('LibraryStep', 'in-category', ASK);
  expect(await plane.kubectl(['get', 'signalbox', '-o', 'name'])).toContain('librarystep.signalbox.dev/in-category');
  expect(await plane.kubectl(['get', 'sbs', 'in-category', '-o', 'name'])).toContain('in-category');
});

test('kubectl get shows stage, conditions and the last run', async () => {
  const conditions = [
    ['Accepted', 'True', 'Accepted'],
    ['Synced', 'False', 'OutOfDate'],
    ['Ready', 'False', 'OutOfDate'],
  ].map(([type, status, reason]) => ({
    type,
    status,
    reason,
    message: 'as a test says',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));
  const lastRun = { id: 'run-1', status: 'completed', triggeredAt: '2026-01-01T00:00:00Z' };
  const status = { stage: 'testing', conditions, lastRun };
  await objects.apply('Pipeline', 'shown', { stage: 'production', steps: [look] });
  const patch = JSON.stringify({ status });
  await plane.kubectl(['patch', 'sbp', 'shown', '--subresource=status', '--type=merge', '-p', patch]);
  const [head = '', row = ''] = (await plane.kubectl(['get', 'sbp', 'shown', '-o', 'wide'])).split('\n');
  expect(head.trim().split(/\s{2,}/)).toEqual('NAME,STAGE,READY,SYNCED,LAST RUN,SUSPENDED,AGE,REASON'.split(','));
  expect(
    row
      .replace(/\b\d+[dhms]/g, 'T')
      .trim()
      .split(/\s{2,}/),
  ).toEqual('shown testing False False T T OutOfDate'.split(' '));
});

test.each([
  ['agents', 'NAME MODEL READY SYNCED AGE'],
  ['librarysteps', 'NAME EXECUTOR READY SYNCED AGE'],
])('kubectl get %s shows %s', async (plural, columns) => {
  await objects.apply('Agent', 'columns', { model: 'demo/any', soul: 'Be brief.' });
  await objects.apply('LibraryStep', 'columns', ASK);
  const [head = ''] = (await plane.kubectl(['get', plural, 'columns'])).split('\n');
  expect(head.trim().split(/\s{2,}/)).toEqual(columns.split(' '));
});

test.each([
  ['pipeline.spec', /steps[\s\S]*The entries of a run, in order/],
  ['pipeline.spec.steps', /prompt_template[\s\S]*prompt, a Handlebars template/],
  ['pipeline.spec.steps.parallel.steps', /weight/],
  ['pipeline.spec.trigger.dedup', /window_seconds/],
  ['librarystep.spec', /executor/],
  ['agent.spec.soul', /instructions of the agent/],
  ['pipeline.status.conditions', /Accepted: the spec is valid/],
])('kubectl explain %s tells what a field is for', async (path, expected) => {
  // The schema is published a moment later.
  const explained = await waitFor(() => plane.kubectl(['explain', path]), {
    what: 'the description',
    timeoutMs: 60_000,
  });
  expect(explained).toMatch(expected);
  expect(explained).not.toMatch(/<no description>|<empty>/);
});

test.each([
  ['created', (text: string) => plane.kubectl(['create', '-f', '-'], text)],
  ['applied', (text: string) => plane.kubectl(['apply', '--server-side', '-f', '-'], text)],
])('null in readiness stays what the author wrote where it is %s', async (how, send) => {
  const readiness = { operational: null, accuracy: { min_marked: 5 } };
  const spec = {
    readiness,
    steps: [
      { ...look, readiness: null },
      { ...look, name: 'then', readiness },
    ],
  };
  await send(manifest('Pipeline', `exempt-${how}`, spec));
  expect((await objects.get('Pipeline', `exempt-${how}`)).spec).toEqual(spec);
  await objects.apply('Pipeline', `exempt-${how}`, { ...spec, description: 'Changed' });
  expect((await objects.get('Pipeline', `exempt-${how}`)).spec).toEqual({ ...spec, description: 'Changed' });
});

test.each([
  ['two shapes', { steps: [{ ...look, use: 'other' }] }, /an entry has exactly one of use, executor, parallel/],
  ['no shape', { steps: [{ name: 'look' }] }, /an entry has exactly one of use, executor, parallel/],
  ['the same name twice', { steps: [look, look] }, /step names must be unique/],
  ['no step', { steps: [] }, /spec\.steps.*should have at least 1 items/],
  ['65 steps', { steps: Array.from({ length: 65 }, (_, i) => ({ ...look, name: `s${i}` })) }, /at most 64 items/],
  ['an empty budget', { budget: {}, steps: [look] }, /needs max_tokens or max_cost/],
  ['an unknown stage', { stage: 'prod', steps: [look] }, /supported values: "testing", "production"/],
  ['a wrong type', { suspend: 'yes', steps: [look] }, /spec\.suspend.*must be of type boolean/],
  ['no steps at all', { description: 'empty' }, /spec\.steps: Required value/],
])('a pipeline with %s is refused with a sentence', async (_what, spec, expected) => {
  expect(await refusal('Pipeline', 'refused', spec)).toMatch(expected);
});

test.each([
  ['a dot', 'two.labels', /must be one label that begins with a letter, without dots/],
  ['a digit in front', '9lives', /must be one label that begins with a letter/],
  ['51 characters', 'x'.repeat(51), /metadata\.name holds at most 50 characters/],
])('an agent with %s in its name is refused with a sentence', async (_what, name, expected) => {
  expect(await refusal('Agent', name, { model: 'demo/any' })).toMatch(expected);
});

test('a typo arrives whole, so that the controller can name it', async () => {
  await objects.apply('Pipeline', 'typo', { stpes: 1, steps: [{ ...look, agnet: 'x', retry: { atempts: 2 } }] });
  const { spec } = JSON.parse(await plane.kubectl(['get', 'sbp', 'typo', '-o', 'json'])) as { spec: unknown };
  expect(spec).toEqual({ stpes: 1, steps: [{ ...look, agnet: 'x', retry: { atempts: 2 } }] });
});

test('nothing is defaulted in an object: the contract is the only place of defaults', async () => {
  const spec = { trigger: { dedup: {} }, concurrency: { limit: 2 }, steps: [{ ...look, retry: {} }] };
  await objects.apply('Pipeline', 'bare', spec);
  expect(JSON.parse(await plane.kubectl(['get', 'sbp', 'bare', '-o', 'json'])).spec).toEqual(spec);
});

test('every sample pipeline and step is taken as it is', async () => {
  for (const [folder, kind] of [
    ['pipelines', 'Pipeline'],
    ['steps', 'LibraryStep'],
  ] as const)
    for (const file of readdirSync(join(ROOT, 'config/samples', folder))) {
      const { name, ...spec } = parse(readFileSync(join(ROOT, 'config/samples', folder, file), 'utf8')) as {
        name: string;
      };
      expect(await refusal(kind, name, spec)).toBe('');
    }
});
