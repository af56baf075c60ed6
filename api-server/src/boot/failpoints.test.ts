import { expect, test } from 'vitest';
import { readFailpoints, surround } from './failpoints.ts';

function asked(text: string | undefined) {
  const seen = { deaths: 0, said: '' };
  const failpoints = readFailpoints(text, { die: () => (seen.deaths += 1), say: (line) => (seen.said += line) });
  return { ...failpoints, seen };
}

test.each([undefined, '', 'step_row_late', 'step_row_late,synchronous_normal'])('%s asks for no point', (text) => {
  const { reach, stepRowLate } = asked(text);
  expect(reach).toBeNull();
  expect(stepRowLate).toBe(text?.includes('step_row_late') ?? false);
});

test('a call is left as it is where no point is asked for', () => {
  const call = () => Promise.resolve(1);
  expect(surround(asked(undefined), 'gateway', call)).toBe(call);
});

test.each([
  ['runs.insert.after', ['runs.insert.before', 'runs.insert.after'], 1],
  ['runs.insert.after:2', ['runs.insert.after', 'runs.insert.before'], 0],
  ['runs.insert.after:2', ['runs.insert.after', 'runs.insert.after'], 1],
  ['any:3', ['a', 'b', 'c', 'd'], 1],
  ['trace', ['a'], 0],
])('%s dies at its time and not at another', (text, points, deaths) => {
  const { reach, seen } = asked(text);
  for (const point of points) reach?.(point);
  expect(seen.deaths).toBe(deaths);
});

test('a trace names every point with its number', () => {
  const { reach, seen } = asked('trace');
  for (const point of ['a', 'b', 'a']) reach?.(point);
  expect(seen.said).toBe('failpoint a:1\nfailpoint b:1\nfailpoint a:2\n');
});

test('a call has a point on each side', async () => {
  const { reach, seen } = asked('trace');
  await surround({ reach }, 'http', async (url: string) => url)('x');
  expect(seen.said).toBe('failpoint http.before:1\nfailpoint http.after:1\n');
});
