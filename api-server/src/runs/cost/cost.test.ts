import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { readCounters } from '../../store/db/counters.ts';
import { runDetail, type RunDetail } from '../../store/tables/run-detail.ts';
import { costCounters, type ModelPrice, priceList, stepCost, TEAM_SPEND } from './cost.ts';
import { createWorld, hang, reply, type Script, sure, type World, type WorldOptions } from '../fixtures/engine.ts';
import { failure, type AgentFailure, type AgentReply } from '../state/executor.ts';
import type { CostPart } from '../state/model.ts';

const price = (provider: string, model: string, inputPerMtok: number, outputPerMtok = inputPerMtok): ModelPrice => ({
  provider,
  model,
  inputPerMtok,
  outputPerMtok,
});
const use = (provider: string | null, model: string | null) => ({
  provider,
  model,
  inputTokens: 1_000_000,
  outputTokens: 0,
  cachedInputTokens: 0,
});

describe('pricing.models', () => {
  const priceOf = priceList([
    price('anthropic', 'claude', 1),
    price('anthropic', 'claude-opus', 15),
    price('anthropic', 'claude-opus-5', 20),
    price('other', 'claude-opus-5-1', 99),
  ]);

  test.each([
    ['anthropic', 'claude-haiku', 1],
    ['anthropic', 'claude-opus-4', 15],
    ['anthropic', 'claude-opus-5-1', 20],
    ['other', 'claude-opus-5-1-20260101', 99],
    ['other', 'claude-opus-5', null],
    ['anthropic', 'gpt-9', null],
    ['Anthropic', 'claude', null],
    [null, 'claude', null],
    ['anthropic', null, null],
  ])('the longest prefix within the provider holds: %s/%s costs %s', (provider, model, cost) => {
    expect(priceOf(use(provider, model))?.cost ?? null).toBe(cost);
  });

  test('rates are for 1,000,000 tokens of each direction, and the price is one by hand', () => {
    const of = priceList([price('p', 'm', 3, 15)]);
    const cost = of({ provider: 'p', model: 'm', inputTokens: 2_000, outputTokens: 100, cachedInputTokens: null });
    expect(cost).toEqual({ cost: 0.0075, source: 'manual' });
  });

  test('cached input tokens have the price that is set for them, and without one that of the others', () => {
    const used = { provider: 'p', model: 'm', inputTokens: 2_000, outputTokens: 0, cachedInputTokens: 1_500 };
    const cached = (cachedInputPerMtok: number) =>
      priceList([{ ...price('p', 'm', 4), cachedInputPerMtok }])(used)?.cost;
    expect(cached(1)).toBe(0.0035);
    expect(cached(0)).toBe(0.002);
    expect(priceList([price('p', 'm', 4)])(used)?.cost).toBe(0.008);
  });

  test('the order in which prices are written does not matter', () => {
    const models = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('a', 'b') }));
    fc.assert(
      fc.property(models, fc.string({ maxLength: 6, unit: fc.constantFrom('a', 'b') }), (names, asked) => {
        const prices = names.map((name, at) => price('p', name, at + 1));
        const longest = names.filter((name) => asked.startsWith(name)).toSorted((a, b) => b.length - a.length)[0];
        const expected = longest === undefined ? null : names.indexOf(longest) + 1;
        for (const list of [prices, prices.toReversed()])
          expect(priceList(list)(use('p', asked))?.cost ?? null).toBe(expected);
      }),
    );
  });
});

const part = (over: Partial<CostPart>): CostPart => ({
  part: 'answer',
  agent: 'a',
  model: 'm',
  provider: 'p',
  inputTokens: 10,
  outputTokens: 5,
  cost: 1,
  source: 'manual',
  ...over,
});

test('a step used and costs what all its agents did, and counts the calls that have no price', () => {
  const verifier = part({ part: 'verifier', cost: 2 });
  const sums = { cost: 4, source: 'manual', unpricedCalls: null, inputTokens: 30, outputTokens: 15 };
  expect(stepCost([part({}), part({}), verifier])).toEqual(sums);
  const unpriced = { ...verifier, calls: 3, cost: null, source: null };
  expect(stepCost([part({}), unpriced])).toEqual({
    cost: 1,
    source: 'manual',
    unpricedCalls: 3,
    inputTokens: 20,
    outputTokens: 10,
  });
  expect(stepCost([unpriced])).toMatchObject({ cost: null, source: null, unpricedCalls: 3 });
  const nothing = { cost: null, source: null, unpricedCalls: null, inputTokens: null, outputTokens: null };
  expect(stepCost([])).toEqual(nothing);
});

test('costs count by model, and for a team in its month', () => {
  const at = Date.parse('2026-12-31T23:59:59.999Z');
  const parts = [part({}), part({ part: 'verifier', model: 'v', cost: 0.5 }), part({ cost: null, source: null })];
  expect(costCounters({ pipeline: 'x', team: 'shop', at }, parts)).toEqual([
    { metric: 'pipeline_cost_total', labels: ['x', 'shop', 'm', 'p', 'manual'], value: 1 },
    { metric: 'agent_cost_total', labels: ['shop', '', 'a', 'm', 'p'], value: 1 },
    { metric: TEAM_SPEND, labels: ['shop', '2026-12'], value: 1 },
    { metric: 'pipeline_cost_total', labels: ['x', 'shop', 'v', 'p', 'manual'], value: 0.5 },
    { metric: 'agent_cost_total', labels: ['shop', '', 'a', 'v', 'p'], value: 0.5 },
    { metric: TEAM_SPEND, labels: ['shop', '2026-12'], value: 0.5 },
  ]);
  expect(costCounters({ pipeline: 'x', team: null, at }, [part({})]).map(({ metric }) => metric)).toEqual([
    'pipeline_cost_total',
    'agent_cost_total',
  ]);
});

describe('a run', () => {
  let world: World;
  const make = async (options: WorldOptions) => (world = await createWorld(options));
  afterEach(() => world.close());
  // The fake agents use 10 tokens in and 5 out of the model m of the provider p: 20 of it cost 1.
  const pricing = [price('p', 'm', 50_000, 100_000)];
  const step = (name: string, more = '') =>
    `  - {name: ${name}, executor: gateway, agent: a, prompt_template: x${more}}\n`;
  const text = (steps: string, head = '') => `name: p\nstage: production\n${head}steps:\n${steps}`;
  const AGENTS = { a: () => sure(0.9), reviewer: () => sure(0.9), judge: () => sure(1, { score: 1 }) };

  test('costs what its steps cost, second opinions included, on rows, in the evidence and in the metrics', async () => {
    const second = ', verifier: {agent: reviewer}, grounding: {agent: judge}';
    await make({ pipelines: [text(step('one', second) + step('two'))], agents: AGENTS, pricing });
    const { run, step: row } = await world.run('p');
    expect(row('one')).toMatchObject({ cost: 3, costSource: 'manual', inputTokens: 30, outputTokens: 15 });
    expect(row('one').trustReport?.cost).toBe(3);
    expect(
      row('one')
        .rawResponse?.costs?.map(({ part: of, cost }) => [of, cost])
        .toSorted(),
    ).toEqual([
      ['answer', 1],
      ['grounding', 1],
      ['verifier', 1],
    ]);
    expect(run).toMatchObject({ cost: 4, unpricedSteps: 0, inputTokens: 40, outputTokens: 20 });
    const counters = await readCounters(world.database.db);
    expect(counters.find(({ metric }) => metric === 'pipeline_cost_total')).toEqual({
      metric: 'pipeline_cost_total',
      labels: ['p', 'payments', 'm', 'p', 'manual'],
      value: 4,
    });
  });

  test('without prices every cost stays null and its steps are unpriced', async () => {
    await make({ pipelines: [text(step('one'))], agents: AGENTS });
    const { run, step: row } = await world.run('p');
    expect(row('one')).toMatchObject({ cost: null, costSource: null });
    expect(run).toMatchObject({ cost: null, unpricedSteps: 1 });
    const counters = await readCounters(world.database.db);
    expect(counters.map(({ metric }) => metric)).not.toContain('pipeline_cost_total');
  });

  test('a testing run has its cost and adds nothing to the metrics', async () => {
    const testing = text(step('one')).replace('production', 'testing');
    await make({ pipelines: [testing], agents: AGENTS, pricing });
    expect((await world.run('p')).run.cost).toBe(1);
    expect(await readCounters(world.database.db)).toEqual([]);
  });

  test('every iteration of loop_until is paid for and in the trace', async () => {
    const loop = ', loop_until: {confidence: 0.95, max_iterations: 3}';
    let call = 0;
    const a = (): AgentReply => ({ ...reply(sure(0.9)), trace: [{ call: ++call }] });
    await make({ pipelines: [text(step('one', loop))], agents: { ...AGENTS, a }, pricing });
    const { run, step: row } = await world.run('p');
    expect(row('one')).toMatchObject({ cost: 3, inputTokens: 30, outputTokens: 15 });
    expect(row('one').rawResponse?.costs).toMatchObject([{ part: 'answer', calls: 3, inputTokens: 30, cost: 3 }]);
    expect(row('one').rawResponse?.trace).toEqual([{ call: 1 }, { call: 2 }, { call: 3 }]);
    expect(run).toMatchObject({ cost: 3, inputTokens: 30 });
  });

  test('failed attempts and failed steps are paid for, with all they did on the row', async () => {
    const trace = [{ type: 'llm_call' }];
    const told = { model: 'm', provider: 'p', agentVersion: 'v1', durationMs: 7 };
    const spent = { ...told, iterations: 2, toolCalls: 1, trace, warnings: [] };
    const lost = (type: string, retryable: boolean): AgentFailure => ({
      ...failure(type, 'no', retryable),
      spent: { ...spent, usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0 } },
    });
    const answers = [lost('provider_error', true), sure(0.9), lost('max_iterations', false)];
    const retry = ', retry: {attempts: 2, delay_seconds: 0.001}';
    const agents = { a: () => answers.shift() as AgentFailure };
    await make({ pipelines: [text(step('one', retry) + step('two'))], agents, pricing });
    const { run, step: row } = await world.run('p');
    expect(row('one')).toMatchObject({ status: 'completed', inputTokens: 20, cost: 2, attempts: 2 });
    expect(row('one').rawResponse).toMatchObject({ iterations: 3, toolCalls: 1, trace });
    expect(row('two')).toMatchObject({ status: 'failed', model: 'm', agentVersion: 'v1', inputTokens: 10, cost: 1 });
    expect(row('two').rawResponse).toMatchObject({ prompt: 'x', iterations: 2, toolCalls: 1, trace });
    expect(run).toMatchObject({ status: 'failed', inputTokens: 30, outputTokens: 15, cost: 3, unpricedSteps: 0 });
  });

  test('a verifier that fails is paid for', async () => {
    const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0 };
    const told = { model: 'm', provider: 'p', agentVersion: null, durationMs: 7 };
    const reviewer = (): AgentFailure => ({
      ...failure('output_invalid', 'no'),
      spent: { ...told, usage, iterations: 1, toolCalls: 0, trace: [], warnings: [] },
    });
    const pipelines = [text(step('one', ', verifier: {agent: reviewer}'))];
    await make({ pipelines, agents: { ...AGENTS, reviewer }, pricing });
    const { run, step: row } = await world.run('p');
    expect(row('one').rawResponse?.verifier).toMatchObject({ model: 'm', error: 'no' });
    expect(row('one').rawResponse?.costs).toMatchObject([{ part: 'answer' }, { part: 'verifier', inputTokens: 10 }]);
    expect(run).toMatchObject({ cost: 2, inputTokens: 20 });
  });

  test('a call without a price leaves the others priced, and is counted', async () => {
    const other = (): AgentReply => ({ ...reply(sure(0.9)), model: 'free' });
    const pipelines = [text(step('one', ', verifier: {agent: reviewer}'))];
    await make({ pipelines, agents: { ...AGENTS, reviewer: other }, pricing });
    const { run, step: row } = await world.run('p');
    expect(row('one')).toMatchObject({ cost: 1, costSource: 'manual', unpricedCalls: 1, inputTokens: 20 });
    expect(run).toMatchObject({ cost: 1, unpricedSteps: 1, inputTokens: 20 });
  });

  test('an answer that several models worked on is paid for by model', async () => {
    const used = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, provider: 'p' };
    const usageByModel = [
      { ...used, model: 'm' },
      { ...used, model: 'free' },
    ];
    const a = (): AgentReply => ({ ...reply(sure(0.9)), model: 'free', usageByModel });
    await make({ pipelines: [text(step('one'))], agents: { ...AGENTS, a }, pricing });
    const { step: row } = await world.run('p');
    expect(row('one')).toMatchObject({ model: 'free', cost: 1, unpricedCalls: 1, inputTokens: 20, outputTokens: 10 });
  });

  test('after a restart the failed attempts of the step in flight are still paid for', async () => {
    let lost = 0;
    const told = { model: 'm', provider: 'p', agentVersion: 'v1', durationMs: 7, warnings: [] };
    const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0 };
    let hold = true;
    const a: Script = (call) => {
      if (lost++ > 0) return hold ? hang(call) : sure(0.9);
      const spent = { ...told, usage, iterations: 1, toolCalls: 0, trace: [] };
      return { ...failure('provider_error', 'no', true), spent };
    };
    const retry = ', retry: {attempts: 2, delay_seconds: 0.001}';
    await make({ pipelines: [text(step('one', retry))], agents: { ...AGENTS, a }, pricing });
    const id = await world.start('p');
    await expect.poll(() => lost).toBe(2);
    hold = false;
    await world.restart();
    await world.engine.resume();
    const { run, step: row } = await world.ended(id);
    expect(row('one')).toMatchObject({ status: 'completed', inputTokens: 20, cost: 2, attempts: 2 });
    expect(run).toMatchObject({ inputTokens: 20, outputTokens: 10, cost: 2 });
  });

  test('budget.max_cost: what is spent escalates the next step', async () => {
    const steps = step('one') + step('two') + step('three');
    await make({ pipelines: [text(steps, 'budget: {max_cost: 2}\n')], agents: AGENTS, pricing });
    const { run, step: row } = await world.run('p');
    expect(run).toMatchObject({ status: 'escalated', cost: 2 });
    expect(row('three')).toMatchObject({ status: 'escalated', error: { type: 'budget' }, cost: null });
    expect(run.error?.message).toBe("the run's budget of 2 is spent (2 used)");
    expect(world.calls).toHaveLength(2);
  });

  test('a budget covers the sub-runs of its run, which may spend what is left of it', async () => {
    const sub = (name: string) => `  - {name: ${name}, executor: pipeline, pipeline: q, on_failure: continue}\n`;
    const q = text(step('one') + step('two')).replace('name: p', 'name: q');
    const parent = text(sub('first') + sub('second'), 'budget: {max_cost: 3}\n');
    await make({ pipelines: [parent, q], agents: AGENTS, pricing });
    const { run, step: row, children, below } = await world.run('p');
    expect(world.calls).toHaveLength(3);
    expect(children.map(({ status, cost }) => [status, cost])).toEqual([
      ['completed', 2],
      ['escalated', 1],
    ]);
    expect(children[1]?.error?.message).toBe(
      `the budget of run ${run.id}, which this run belongs to, of 3 is spent (3 used)`,
    );
    expect(row('second').status).toBe('escalated');
    expect([run.cost, below]).toMatchObject([null, { cost: 3, inputTokens: 30, outputTokens: 15, unpricedSteps: 0 }]);
  });

  test('after a restart a budget still knows what sub-runs have spent', async () => {
    const sub = '  - {name: first, executor: pipeline, pipeline: q}\n';
    const q = text(step('one')).replace('name: p', 'name: q');
    let hold = true;
    const slow: Script = (call) => (hold ? hang(call) : sure(0.9));
    const parent = text(
      sub + step('two').replace('agent: a', 'agent: slow') + step('three'),
      'budget: {max_cost: 2}\n',
    );
    await make({ pipelines: [parent, q], agents: { ...AGENTS, slow }, pricing });
    const id = await world.start('p');
    await expect.poll(() => world.calls.length).toBe(2);
    hold = false;
    await world.restart();
    await world.engine.resume();
    const { run, step: row } = await world.ended(id);
    expect(run).toMatchObject({ status: 'escalated', cost: 1 });
    expect(row('three').error?.message).toBe("the run's budget of 2 is spent (2 used)");
  });

  test('after a restart a run still knows what it has spent, second opinions included', async () => {
    const second = ', verifier: {agent: reviewer}';
    const steps = step('one', second) + step('two') + step('three');
    let held = true;
    const agents = {
      ...AGENTS,
      a: async (call: { stepName: string; signal: AbortSignal }) => {
        if (call.stepName === 'two' && held) {
          held = false;
          const { promise, resolve } = Promise.withResolvers<void>();
          call.signal.addEventListener('abort', () => resolve());
          asked.resolve();
          await promise;
        }
        return sure(0.9);
      },
    };
    const asked = Promise.withResolvers<void>();
    await make({ pipelines: [text(steps, 'budget: {max_cost: 3}\n')], agents, pricing });
    const id = await world.start('p');
    await asked.promise;
    // What it has spent so far is told while it runs.
    const { run: live } = (await runDetail(world.database.db, id, { raw: false })) as RunDetail;
    expect(live).toMatchObject({ status: 'running', cost: 2, inputTokens: 20, outputTokens: 10 });
    await world.restart();
    await world.engine.resume();
    const { run } = await world.ended(id);
    expect(run).toMatchObject({ status: 'escalated', cost: 3, inputTokens: 30, outputTokens: 15, unpricedSteps: 0 });
    expect(run.error?.step).toBe('three');
  });
});
