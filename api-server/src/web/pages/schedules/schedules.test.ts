import { expect, test } from 'vitest';
import { pagesWith } from '../fixtures/pages-with.ts';
import { runLine } from '../fixtures/runs.ts';
import { suspendedSchedule } from '../fixtures/schedules.ts';

const nameOf = (at: number) => `pipeline-${String(at).padStart(3, '0')}`;
const schedules = Array.from({ length: 250 }, (_, at) => suspendedSchedule(nameOf(at)));

test('the schedules of a page are shown with their last runs, which are read together', async () => {
  const lines = [runLine({ id: 'newest', pipeline_name: nameOf(210), source: 'ui' })];
  const { get, deps } = await pagesWith({ schedules, lines });
  const asked: (readonly string[])[] = [];
  const { newest } = deps.runs;
  deps.runs.newest = (names) => (asked.push(names), newest(names));
  deps.runs.list = () => Promise.reject(new Error('the page of schedules lists no runs'));
  const first = await get('/ui/schedules');
  expect(first.body.match(/data-row/g)).toHaveLength(100);
  expect(first.body).toContain('href="/ui/schedules?page&#x3D;2"');
  const { body } = await get('/ui/schedules?page=3');
  expect(body).toContain('201–250 of 250');
  expect(body.match(/class="last-run" href="([^"]*)"/)?.[1]).toBe('/ui/runs/newest');
  expect(body).toContain('from ui');
  expect(asked.map((names) => [names.length, names[0]])).toEqual([
    [100, nameOf(0)],
    [50, nameOf(200)],
  ]);
});
