import { type Ahead, computeLimit, type Done } from '@signalbox/crds';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { newFolders, type TestFolders } from './fixtures/folders.ts';
import { createRegistry } from './registry.ts';

let folders: TestFolders;
beforeEach(() => {
  folders = newFolders();
});
afterEach(() => folders.remove());

const properties = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`property_${at}`, { type: 'string' }]));
const NAMES = ['a', 'b', 'c'];

test('the start has large definitions read in a thread, for a time that does not grow with their number', async () => {
  for (const name of NAMES) {
    const step = { name: 'look', executor: 'gateway', agent: 'x', prompt_template: 'Look' };
    const output_schema = { properties: { ...properties, [name]: {} } };
    folders.write(`pipelines/${name}.yaml`, JSON.stringify({ name, steps: [{ ...step, output_schema }] }));
  }
  folders.write('pipelines/small.yaml', 'name: small\nsteps: [{name: a, executor: webhook, url: "http://x"}]\n');
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const asked: string[] = [];
  const work = async ({ name }: Ahead) => {
    asked.push(name.replace(/.*\//, ''));
    vi.advanceTimersByTime(9_000);
    return undefined;
  };
  const registry = await createRegistry({ ...folders.folders, operator: {}, now: () => 1, work });
  expect(asked).toEqual(['a.yaml', 'b.yaml', 'c.yaml']);
  expect(registry.current().pipelines.map(({ name }) => name)).toEqual(['small']);
  expect(registry.current().problems.map(({ msg }) => msg)).toEqual(
    NAMES.map(() => expect.stringContaining('the start does not wait longer for large definitions; reload')),
  );
  expect(registry.isPartial()).toBe(true);
  await registry.reload();
  expect(registry.current().pipelines.map(({ name }) => name)).toEqual([...NAMES, 'small']);
  expect(registry.current().problems).toEqual([]);
});

test('large definitions of other namespaces take no time of the start from those of the operator', async () => {
  const step = { executor: 'gateway', agent: 'x', prompt_template: 'Look', output_schema: { properties } };
  const own = { name: 'own', steps: [{ name: 'look', ...step }] };
  folders.write('managed/pipelines/own.yaml', JSON.stringify(own));
  folders.write('pipelines/file.yaml', JSON.stringify({ ...own, name: 'file' }));
  const about = { uid: 'u', generation: 1, hash: 'h' };
  const files: Record<string, object> = {
    'pipelines/own.yaml': { kind: 'Pipeline', namespace: 'ops', name: 'own', ...about },
  };
  for (const name of NAMES) {
    folders.write(`managed/steps/${name}.yaml`, JSON.stringify({ name, ...step }));
    files[`steps/${name}.yaml`] = { kind: 'LibraryStep', namespace: 'shop', name, ...about };
  }
  folders.write('managed/manifest.json', JSON.stringify({ namespace: 'ops', files, objects: [], agents: {} }));
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const work = async ({ work: { source } }: Ahead) => {
    vi.advanceTimersByTime(source.namespace === 'shop' ? 15_000 : 1_000);
    return undefined;
  };
  const operator = { tenancy: { open: false, library: [], namespaces: {}, home: null } };
  const registry = await createRegistry({ ...folders.folders, operator, now: () => 1, work });
  expect(registry.current().pipelines.map(({ name }) => name)).toEqual(['own', 'file']);
  expect(registry.current().steps).toEqual([]);
  expect(registry.isPartial()).toBe(true);
});

test('a text that a thread refused is not tried again while the one that loaded before it stays', async () => {
  const text = (prompt: string) =>
    JSON.stringify({ name: 'a', steps: [{ name: 'look', executor: 'gateway', agent: 'x', prompt_template: prompt }] });
  folders.write('pipelines/a.yaml', text('good '.repeat(2000)));
  const asked: string[] = [];
  const work = async ({ name, work: { source, check } }: Ahead): Promise<Done | undefined> => {
    if (check === null) return undefined;
    asked.push(name);
    return source.text.includes('bad') ? computeLimit('it takes too long') : undefined;
  };
  const registry = await createRegistry({ ...folders.folders, operator: {}, now: () => 1, work });
  folders.write('pipelines/a.yaml', text('bad '.repeat(3000)));
  await registry.reload();
  expect(registry.current().problems).toMatchObject([{ reason: 'too_large' }]);
  asked.length = 0;
  await registry.reload();
  expect(asked).toEqual([]);
  expect(registry.current().problems).toMatchObject([{ reason: 'too_large' }]);
  expect(registry.current().pipelines).toMatchObject([{ text: expect.stringContaining('good') }]);
});
