import { expect, test } from 'vitest';
import { NOW, stepDetail } from '../../fixtures/runs.ts';
import { waterfallView } from './waterfall.ts';

const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
const view = (steps: Parameters<typeof waterfallView>[0], to: string | null = at(10)) =>
  waterfallView(steps, {
    from: at(0),
    to,
    now: NOW + 20_000,
    chosen: null,
    hrefOf: (step) => `?step=${step}`,
    pinOf: () => null,
  });

test('a bar stands where the step ran, with model and tool calls inside it', () => {
  const trace = [
    { type: 'llm_call', started_at: at(3), duration_ms: 1000 },
    { type: 'tool_call', started_at: at(4), duration_ms: 500 },
  ];
  const [row] = view([stepDetail({ started_at: at(2), completed_at: at(7), raw_response: { trace } })]).rows;
  expect(row).toMatchObject({ x: '20.000%', width: '50.000%', duration: '5.0 s' });
  expect(row!.segments).toEqual([
    { kind: 'model', x: '30.000%', width: '10.000%' },
    { kind: 'tools', x: '40.000%', width: '5.000%' },
  ]);
});

test('a step that still runs reaches to now', () => {
  const [row] = view(
    [stepDetail({ status: 'running', started_at: at(10), completed_at: null, raw_response: null })],
    null,
  ).rows;
  expect(row).toMatchObject({ x: '50.000%', width: '50.000%', live: true });
});

test('calls that lie outside their step, or are no calls at all, stay inside the bar', () => {
  const trace = [
    { type: 'llm_call', started_at: at(-50), duration_ms: 1e12 },
    { type: 'llm_call' },
    null,
    'x',
    { type: 'tool_call', started_at: 'never' },
  ];
  const [row] = view([stepDetail({ started_at: at(2), completed_at: at(7), raw_response: { trace } })]).rows;
  expect(row!.segments).toEqual([{ kind: 'model', x: '20.000%', width: '50.000%' }]);
});

test('a run without a length has an axis all the same', () => {
  const { rows, ticks } = view([stepDetail({ started_at: at(0), completed_at: at(0), raw_response: null })], at(0));
  expect(rows[0]!.width).not.toContain('NaN');
  expect(ticks.length).toBeLessThanOrEqual(6);
});
