import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Trace } from './trace.ts';

const ENTRY = { type: 'tool_call' as const, started_at: '2026-01-01T00:00:00Z', duration_ms: 1 };
const INPUT = '{"list":[{},{"name":"checkout"},"[]"]}';

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

test('the input of a call is whole in a trace, which does not hold it parsed', async () => {
  const trace = new Trace(100);
  const given = (() => {
    const input = JSON.parse(INPUT) as object;
    trace.add({ ...ENTRY, input });
    return new WeakRef(input);
  })();
  // A reference that was just made holds until the turn ends.
  await new Promise(setImmediate);
  collectGarbage();
  expect(given.deref()).toBeUndefined();
  expect(trace.entries()).toEqual([{ ...ENTRY, input: JSON.parse(INPUT) as object }]);
});

test('inputs and results beyond what fits a frame are left out', () => {
  const trace = new Trace(400_000);
  for (const input of [{ a: 'x'.repeat(300_000) }, { b: 'x'.repeat(300_000) }]) trace.add({ ...ENTRY, input });
  expect(trace.entries().map(({ input, result }) => [typeof input, result])).toEqual([
    ['object', undefined],
    ['undefined', '[cut: the trace is full]'],
  ]);
});
