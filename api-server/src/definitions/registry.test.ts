import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { newFolders, type TestFolders } from './fixtures/folders.ts';
import { createRegistry } from './registry.ts';

let folders: TestFolders;
beforeEach(() => {
  folders = newFolders();
});
afterEach(() => folders.remove());

const properties = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`property_${at}`, { type: 'string' }]));
const NAMES = ['a', 'b', 'c'];

test('the start has large schemas judged in a thread, for a time that does not grow with their number', async () => {
  for (const name of NAMES) {
    const step = { name: 'look', executor: 'gateway', agent: 'x', prompt_template: 'Look' };
    const output_schema = { properties: { ...properties, [name]: {} } };
    folders.write(`pipelines/${name}.yaml`, JSON.stringify({ name, steps: [{ ...step, output_schema }] }));
  }
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const judged: string[] = [];
  const judgeSchema = async (_: object, name: string) => {
    judged.push(name);
    vi.advanceTimersByTime(15_000);
    return { ok: true } as const;
  };
  const registry = await createRegistry({ ...folders.folders, operator: {}, now: () => 1, judgeSchema });
  expect(judged).toEqual(['a', 'b']);
  expect(registry.current().problems).toEqual([]);
  expect(registry.current().pipelines.map(({ name }) => name)).toEqual(NAMES);
});
