import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { CONTEXT } from '../fixtures/engine.ts';
import { chargedOf } from './charged.ts';
import { heldBytes, heldContext, heldStep, heldView } from './held.ts';
import type { StepExecution } from './model.ts';

const MANY = { list: Array.from({ length: 1000 }, () => ({})) };

test.each([
  ['small', CONTEXT],
  ['of many values', { ...CONTEXT, metadata: MANY }],
  ['of a long text', { ...CONTEXT, annotations: { text: 'ž'.repeat(20_000) } }],
])('a context that is %s says what it said, without the delivery', (_, context) => {
  const held = heldContext(context);
  expect({ ...held }).toEqual({ ...context, raw: null });
  expect(heldContext(held)).toBe(held);
});

test('what is large is kept as text and counted', () => {
  const held = heldContext({ ...CONTEXT, metadata: MANY });
  expect(Object.getOwnPropertyDescriptor(held, 'metadata')?.value).toBeUndefined();
  expect(held.metadata).not.toBe(MANY);
  expect(heldBytes(held) - heldBytes(CONTEXT)).toBeGreaterThan(3000);
  const view = { status: 'completed' as const, summary: null, confidence: null, trust: null, next_step_context: 'x' };
  expect(Object.getOwnPropertyDescriptor(heldView({ ...view, output: MANY }), 'output')?.value).toBeUndefined();
});

test('an ended step is its result, one in flight is whole', () => {
  const rawResponse = { prompt: 'look', loaded: { stepId: 'a', status: 'completed' as const } };
  const kept = { status: 'completed', output: MANY, nextStepContext: null };
  const said = {
    checks: [{ name: 'c' }],
    artifacts: ['a'],
    trustReport: { trust: 0.9, signals: [{}], warnings: [{ type: 'trace_cut', message: 'long' }] },
  };
  const step = { ...kept, ...said, rawResponse } as unknown as StepExecution;
  expect({ ...heldStep(step) }).toEqual({
    ...kept,
    checks: [],
    artifacts: [],
    trustReport: { trust: 0.9, signals: [], warnings: [{ type: 'trace_cut', message: '' }] },
    rawResponse: { loaded: rawResponse.loaded, charged: chargedOf(step) },
  });
  const running = { ...step, status: 'running' as const };
  expect(heldStep(running)).toBe(running);
});

test('what a large answer does not say to the next step is known without reading it', () => {
  const view = { status: 'completed' as const, summary: null, confidence: null, trust: null, output: MANY };
  const held = heldView({ ...view, next_step_context: null });
  expect(Object.getOwnPropertyDescriptor(held, 'next_step_context')?.value).toBeNull();
  expect({ ...held }).toEqual({ ...view, next_step_context: null });
});

const VIEW = { status: 'completed' as const, summary: null, confidence: null, trust: null, next_step_context: null };

test('a large answer takes little more memory than its compressed text', async () => {
  const before = memoryUsed();
  const all = Array.from({ length: 2_000 }, (_, at) => heldView({ ...VIEW, output: { text: ','.repeat(300), at } }));
  await vi.waitFor(() => expect((memoryUsed() - before) / all.length).toBeLessThan(700));
});

test('a text that names more than stays read again and again reads each once, and the next one may read it again', async () => {
  const list = Array.from({ length: 1_000_000 }, () => 0);
  const all = Array.from({ length: 3 }, () => heldView({ ...VIEW, output: { list } }));
  const outputs = () => all.map(({ output }) => output);
  const first = outputs();
  expect(new Set(first).size).toBe(3);
  for (const [at, output] of outputs().entries()) expect(output === first[at]).toBe(true);
  await setImmediate();
  expect(outputs()[0] === first[0]).toBe(false);
});

function memoryUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
