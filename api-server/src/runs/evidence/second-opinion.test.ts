import { expect, test } from 'vitest';
import { hang } from '../fixtures/engine.ts';
import type { ActiveRun } from '../state/active-run.ts';
import type { AgentBackend, AgentCall, AgentReply } from '../state/executor.ts';
import { createPromptRoom } from '../state/prompt-room.ts';
import { createShares } from '../state/shares.ts';
import { NO_SPAN } from '../state/span.ts';
import { StepResults } from '../state/step-results.ts';
import { ground } from './ground.ts';
import type { Begun } from './step-execution.ts';
import { type OpinionDeps, type Subject, verify } from './verify.ts';

/** 1,000 characters as JSON, in which it goes out. */
const PROMPT = '\u0001'.repeat(166) + 'xx';
const answer = { confidence: 0.9, summary: 'looked', output: { text: 'fine' } };

function world(roomOfRun: number, text = PROMPT) {
  const run = {
    id: 'r',
    parent: null,
    namespace: null,
    pipeline: { name: 'p' },
    context: { labels: {}, metadata: {} },
    journal: { add: () => undefined },
    results: new StepResults(),
    triggeredAt: 0,
  } as unknown as ActiveRun;
  const memory = createShares(roomOfRun);
  const calls: AgentCall[] = [];
  const rendering = { now: 0, most: 0 };
  const backend = {
    name: 'gateway',
    run: (call: AgentCall) => {
      calls.push(call);
      return hang(call) as Promise<AgentReply>;
    },
  } as AgentBackend;
  const deps = {
    backends: new Map([['gateway', backend]]),
    prompts: createPromptRoom(memory, () => null),
    priceOf: () => null,
    now: Date.now,
    compute: { validate: () => Promise.resolve({ ok: true }) },
    templates: {
      render: async () => {
        rendering.now += 1;
        rendering.most = Math.max(rendering.most, rendering.now);
        await new Promise(setImmediate);
        rendering.now -= 1;
        return { ok: true, text, missing: [] };
      },
    },
  } as unknown as OpinionDeps;
  const asks = { executor: 'gateway', agent: 'second', prompt_template: 'x', timeout_seconds: 60 };
  const step = { executor: 'gateway', verifier: asks, grounding: asks };
  const begun = { run, step, name: 's', iteration: 1, attempt: 1, locals: {}, costs: [], span: NO_SPAN };
  return { deps, memory, begun: begun as unknown as Begun, calls, rendering };
}

test.each([
  ['verifiers', verify],
  ['grounding judges', ground],
])(
  'the prompts of %s that go on have so much room, are rendered one at a time, and fail without room',
  async (_, of) => {
    const { deps, memory, begun, calls, rendering } = world(5_000);
    const stop = new AbortController();
    const subject = { answer, raw: { prompt: 'Look' }, signal: stop.signal } as unknown as Subject;
    const ask = () => of(deps, begun, subject);
    const first = [ask(), ask()];
    const refused = await ask();
    expect(refused).toMatchObject({ score: null, error: expect.stringContaining('hold too much memory') as string });
    expect([calls.length, rendering.most, memory.all()]).toEqual([2, 1, 4_000]);
    stop.abort();
    expect(await Promise.all(first)).toMatchObject([{ error: 'stopped' }, { error: 'stopped' }]);
    expect(memory.all()).toBe(0);
  },
);

test('what a judge is asked is searched for what the step saw in linear time', async () => {
  const material = `${'a'.repeat(3_000)}b${'a'.repeat(56_999)}`;
  const { deps, begun } = world(10_000_000, 'a'.repeat(250_000));
  const subject = { answer, raw: { prompt: material }, signal: AbortSignal.abort() } as unknown as Subject;
  const before = process.threadCpuUsage();
  const opinion = await ground(deps, begun, subject);
  const { user, system } = process.threadCpuUsage(before);
  expect(opinion?.sources).toEqual(['what its own prompt_template shows']);
  expect((user + system) / 1000).toBeLessThan(1000);
});
