import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { valuesIn } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { NO_SERVER, Trace } from './trace.ts';

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

const call = (tool: string, more: object = {}) => ({ ...ENTRY, server: 'k8s', tool, result: 'ok', ...more });
const ofTool = (trace: Trace, tool: string) => trace.entries().filter((entry) => entry.tool === tool);

/** What a model could put before the call that it wants to hide. */
const HAYSTACKS: [string, (trace: Trace) => void][] = [
  ['harmless calls', (trace) => each(5_000, (input) => trace.add(call('get', { input })))],
  ['large inputs', (trace) => each(9, () => trace.add(call('get', { input: { a: 'x'.repeat(180_000) } })))],
  ['large results', (trace) => each(900, () => trace.add(call('get', { result: '\u0000'.repeat(4_000) })))],
  ['one value after the other', (trace) => each(9, () => trace.add(call('get', { input: Array(20_000).fill(0) })))],
  ['tools that do not exist', (trace) => each(5_000, (at) => trace.add(denied(`t${at}`, NO_SERVER)))],
  [
    'turns of a model',
    (trace) => each(5_000, () => trace.add({ ...ENTRY, type: 'llm_call', reason: 'x'.repeat(900) })),
  ],
];

function denied(tool: string, server = 'k8s') {
  return { ...call(tool, { result: undefined, reason: 'no' }), type: 'tool_denied' as const, server };
}

function each(times: number, act: (at: number) => void): void {
  for (let at = 0; at < times; at++) act(at);
}

test.each(HAYSTACKS)('no call, refusal or question hides behind %s', (_, fill) => {
  const trace = new Trace(4_000);
  fill(trace);
  trace.add(call('restart', { call_id: 'c1', input: { deployment: 'payments' }, is_error: false }));
  trace.add(denied('delete'));
  trace.add({ ...call('exec'), type: 'approval' });
  expect(ofTool(trace, 'restart')).toMatchObject([
    { type: 'tool_call', server: 'k8s', call_id: 'c1', is_error: false },
  ]);
  expect([...ofTool(trace, 'delete'), ...ofTool(trace, 'exec')]).toHaveLength(2);
  expect(trace.wasCut).toBe(true);
  const json = JSON.stringify(trace.entries());
  expect(Buffer.byteLength(json)).toBeLessThan(800_000);
  expect(valuesIn(json)).toBeLessThan(45_000);
});

test('calls that have no place are counted with the last one of their tool', () => {
  const trace = new Trace(100);
  each(512, () => trace.add(call('get')));
  each(3, () => trace.add(call('restart')));
  each(101, () => trace.add(denied('get')));
  expect(ofTool(trace, 'get').findLast(({ type }) => type === 'tool_call')).toMatchObject({ left_out: 12 });
  expect(ofTool(trace, 'restart')).toMatchObject([{ left_out: 2 }]);
  expect(ofTool(trace, 'get').at(-1)).toMatchObject({ type: 'tool_denied', left_out: 2 });
});

test('a trace that holds all was not cut', () => {
  const trace = new Trace(4_000);
  each(100, (input) => trace.add(call('get', { input, result: 'x'.repeat(4_000) })));
  expect([trace.entries().length, trace.wasCut]).toEqual([100, false]);
});
