import { expect, test } from 'vitest';
import { reply, sure } from '../fixtures/engine.ts';
import type { AgentCall } from '../state/executor.ts';
import { NO_SPAN } from '../state/span.ts';
import type { StepContext } from '../state/step-context.ts';
import type { Answer, Attempt } from '../state/step-kind.ts';
import { agentStep, type AgentStepDeps } from './agent-step.ts';

const TEXT = 'é'.repeat(400_000);
const PROMPT = 'x'.repeat(256 * 1024);
const MARK = /… \[cut from 8\d{5} bytes\]/;

/** What a step sends that is asked once with the answer of the iteration before. */
async function sentBy(name: 'gateway' | 'external', said: Record<string, unknown>): Promise<string[]> {
  const sent: string[] = [];
  const backend = {
    name,
    run: ({ input }: AgentCall) => {
      sent.push(input);
      return Promise.resolve(sent.length === 1 ? reply(said) : reply(sure(0.9)));
    },
  };
  const compute = {
    validate: (_: object, value: object) =>
      Promise.resolve('confidence' in value ? { ok: true } : { ok: false, errors: [{ loc: [TEXT], msg: 'is new' }] }),
  };
  const deps = { backend, compute, templates: {}, approvals: null, now: Date.now } as unknown as AgentStepDeps;
  const run = { id: 'r', pipeline: { name: 'p' }, journal: { add: () => undefined }, team: null, namespace: null };
  const step = { executor: name, agent: 'a', prompt_template: 'x' };
  const prepared = await agentStep(deps).prepare({ run, step, name: 's' } as unknown as StepContext, {
    prompt: PROMPT,
  });
  if (!prepared.ok) throw new Error(prepared.message);
  const previous = { confidence: 0.3, summary: 'long', output: { text: TEXT } } as unknown as Answer;
  const attempt = { iteration: 2, previous, signal: new AbortController().signal, span: NO_SPAN };
  expect(await prepared.perform(attempt as unknown as Attempt)).toMatchObject({ ok: true });
  return sent;
}

test('an agent that looks again sees its whole prompt, and as much of its answer as a message holds', async () => {
  const [input = ''] = await sentBy('gateway', sure(0.9));
  expect(input.startsWith(`${PROMPT}\n\nYour answer so far was:\n{"confidence":0.3`)).toBe(true);
  expect(input).toMatch(MARK);
  expect(Buffer.byteLength(input)).toBeLessThan(400 * 1024);
});

test('an agent that repairs its answer sees as much of it, and of what is wrong with it, as a message holds', async () => {
  const [, input = ''] = await sentBy('external', { text: TEXT });
  expect(input.match(new RegExp(MARK, 'g'))).toHaveLength(3);
  expect(input).toContain('Your answer was:\n{"text":"é');
  expect(Buffer.byteLength(input)).toBeLessThan(660 * 1024);
});
