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
    'large inputs and then names and ids of control characters',
    (trace) => {
      each(9, () => trace.add(call('get', { input: { a: 'x'.repeat(60_000) } })));
      const signs = { call_id: '\u0001'.repeat(200), reason: '\u0001'.repeat(200) };
      each(300, () => trace.add({ ...denied('\u0001'.repeat(100), NO_SERVER), ...signs }));
      each(40, () => trace.add(denied('x', NO_SERVER)));
    },
  ],
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

const ofAll = (trace: Trace) => trace.entries().reduce((sum, { left_out = 0 }) => sum + 1 + left_out, 0);

test('no tool is without its name or a count, however many there are with however long names', () => {
  const trace = new Trace(4_000);
  each(500, () => trace.add(call('get', { input: { a: 'x'.repeat(9_000) } })));
  const long = '\u0001'.repeat(240);
  each(3_000, (at) => trace.add(call(`${long}${at}`, { call_id: long, reason: long })));
  trace.add(denied('delete'));
  expect(ofTool(trace, `${long}40`)).toMatchObject([{ result: '[cut: the trace is full]' }]);
  expect(ofTool(trace, 'other tools')).toMatchObject([
    { type: 'tool_call', server: NO_SERVER, left_out: expect.any(Number) },
    { type: 'tool_denied', server: NO_SERVER },
  ]);
  expect(ofAll(trace)).toBe(3_501);
  expect(Buffer.byteLength(JSON.stringify(trace.entries()))).toBeLessThan(940_000);
});

test('what a pod puts into entries leaves the values of a frame to the others', () => {
  const trace = new Trace(4_000);
  trace.add(call('get', { input: Array(24_000).fill(0) }));
  each(2_000, (at) => trace.add(call(`t${at}`, { more: Array(30).fill(at), usage: Array(10).fill(at) })));
  expect(valuesIn(JSON.stringify(trace.entries()))).toBeLessThan(48_000);
  expect(ofAll(trace)).toBe(2_001);
});

test('a trace that holds all was not cut', () => {
  const trace = new Trace(4_000);
  each(100, (input) => trace.add(call('get', { input, result: 'x'.repeat(4_000) })));
  expect([trace.entries().length, trace.wasCut]).toEqual([100, false]);
});
