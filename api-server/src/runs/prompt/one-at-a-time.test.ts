import { expect, test } from 'vitest';
import type { ActiveRun } from '../state/active-run.ts';
import { oneAtATime } from './one-at-a-time.ts';

const runBelow = (parent: ActiveRun | null) => ({ parent }) as ActiveRun;

test('a run and its sub-runs render one after the other, also after one that throws, and other runs do not wait', async () => {
  const top = runBelow(null);
  const first = Promise.withResolvers<string>();
  const begun: string[] = [];
  const render = (run: ActiveRun, name: string, result: Promise<string>) =>
    oneAtATime(run, () => {
      begun.push(name);
      return result;
    });
  const waits = render(top, 'first', first.promise);
  const next = render(runBelow(top), 'next', Promise.resolve('next'));
  expect(await render(runBelow(null), 'other', Promise.resolve('other'))).toBe('other');
  expect(begun).toEqual(['first', 'other']);
  first.reject(new Error('no'));
  await expect(waits).rejects.toThrow('no');
  expect(await next).toBe('next');
});
