import { expect, test } from 'vitest';
import { pagesWith } from '../../fixtures/pages-with.ts';
import { runDetail, stepDetail } from '../../fixtures/runs.ts';
import type { StepDetail } from '../../../../service/views/step.ts';
import { costView } from './cost.ts';

const used = {
  agent: 'triage',
  model: 'm-1',
  provider: 'p',
  input_tokens: 100,
  output_tokens: 20,
  cached_input_tokens: 30,
  cost: 0.01,
  cost_source: 'manual',
  unpriced_calls: 0,
};
const usage = { agent: used, verifier: null, grounding: null };
const NONE = { input_tokens: null, output_tokens: null, cost: null, cost_source: null };
const NOBODY = { agent: null, verifier: null, grounding: null };
const unpriced = { agent: { ...used, cost: null, unpriced_calls: 1 }, verifier: null, grounding: null };

test.each<[string, Partial<StepDetail>, string]>([
  ['a price', { cost: 0.01, cost_source: 'live_exact', usage }, 'Live price of this provider'],
  [
    'no price',
    { cost: null, unpriced_calls: 1, usage: unpriced },
    'No price is known for m-1. Add it under pricing.models.',
  ],
  [
    'a call that failed before 0.2.0',
    { ...NONE, status: 'failed', usage: null },
    'What failed calls used was not recorded before version 0.2.0.',
  ],
  ['a backend that counts no tokens', { ...NONE, usage: NOBODY }, 'No tokens were reported for this step.'],
  ['a step that runs', { ...NONE, status: 'running' }, 'The step has not ended.'],
  ['a step whose condition did not hold', { ...NONE, status: 'skipped' }, 'The step did not run.'],
  [
    'a result that a rerun took over',
    { ...NONE, status: 'skipped', raw_response: { loaded: { step_id: 'x', status: 'completed' } } },
    'The result is of an earlier run, which paid for it.',
  ],
])('%s: the reason beside the cost', (_, fields, why) => {
  expect(costView(stepDetail(fields), 'USD').why).toBe(why);
});

const valueOf = (fields: Partial<StepDetail>, label: string) =>
  costView(stepDetail(fields), 'USD').rows.find((row) => row.label === label)?.value;

test('the page of a step says who of those that were asked cost what, and who has no price', async () => {
  const reviewer = { ...used, agent: 'reviewer', model: 'm-2', cost: null, cost_source: null, unpriced_calls: 2 };
  const step = stepDetail({ cost: 0.01, unpriced_calls: 2, usage: { ...usage, verifier: reviewer } });
  const { get } = await pagesWith({ details: [runDetail({ id: 'r1', steps: [step] })] });
  const { body } = await get('/ui/runs/r1?tab=cost');
  expect(body).toContain('Not included: 2 calls without a price, of m-2. Add it under pricing.models.');
  expect(body).toContain('of these cached</dt><dd class="num">60');
  expect(body).toContain('Answer by triage</dt><dd class="num">100 + 20 tokens, $0.01');
  expect(body).toContain('Verifier by reviewer</dt><dd class="num">100 + 20 tokens, unpriced');
});

test('cached tokens are those of all that were asked, and of an old row not recorded', () => {
  expect(valueOf({ usage: { ...usage, verifier: used } }, 'of these cached')).toBe('60');
  const old = { ...usage, agent: { ...used, cached_input_tokens: null } };
  expect(valueOf({ usage: old }, 'of these cached')).toBe('not recorded before version 0.2.0');
  expect(valueOf(NONE, 'of these cached')).toBe('–');
});

test('an agent whose fallback answered has a line for each model', () => {
  const part = { provider: 'p', input_tokens: 50, output_tokens: 10, cached_input_tokens: 0 };
  const by_model = [
    { ...part, model: 'm-1', cost: 0.01 },
    { ...part, model: 'm-2', cost: null },
  ];
  const fields = { usage: { ...usage, agent: { ...used, by_model } } };
  expect(valueOf(fields, 'Answer: m-1')).toBe('50 + 10 tokens, $0.01');
  expect(valueOf(fields, 'Answer: m-2')).toBe('50 + 10 tokens, unpriced');
});
