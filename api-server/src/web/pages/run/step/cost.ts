import type { AgentUsage } from '../../../../service/views/step.ts';
import { count, money } from '../../format.ts';
import { missingCost, NOT_RECORDED, whyNoTokens } from './said.ts';
import type { ShownStep } from './shown-step.ts';

const SOURCES: Record<string, string> = {
  manual: 'Price from the configured table',
  live_exact: 'Live price of this provider',
  live_cross_provider: "Live price from another provider's listing",
};

const LABELS = { agent: 'Answer', verifier: 'Verifier', grounding: 'Grounding' } as const;
const PARTS = ['agent', 'verifier', 'grounding'] as const;

const asked = ({ usage }: ShownStep): AgentUsage[] => PARTS.flatMap((part) => usage?.[part] ?? []);

function whyCost(step: ShownStep): string {
  if (step.input_tokens === null && step.output_tokens === null) return whyNoTokens(step);
  const unpriced = asked(step).find(({ unpriced_calls: calls }) => calls > 0) ?? step;
  const model = unpriced.model ?? 'this model';
  if (step.cost === null) return `No price is known for ${model}. Add it under pricing.models.`;
  const source = SOURCES[step.cost_source ?? ''] ?? 'Priced';
  if (step.unpriced_calls === 0) return source + missingCost(step);
  const calls = step.unpriced_calls === 1 ? '1 call' : `${count(step.unpriced_calls)} calls`;
  return `${source}. Not included: ${calls} without a price, of ${model}. Add it under pricing.models.`;
}

function cachedTokens(step: ShownStep): string {
  if (step.input_tokens === null) return '–';
  const known = asked(step).flatMap(({ cached_input_tokens: cached }) => cached ?? []);
  return known.length === 0 ? NOT_RECORDED : count(known.reduce((sum, cached) => sum + cached, 0));
}

const tokens = (used: Pick<AgentUsage, 'input_tokens' | 'output_tokens'>): string =>
  `${count(used.input_tokens)} + ${count(used.output_tokens)} tokens`;

/** A line for each agent, and for each of its models where there are several. */
const parts = ({ usage }: ShownStep, currency: string) =>
  PARTS.flatMap((part) => {
    const used = usage?.[part];
    if (!used) return [];
    const priced = (cost: number | null) => (cost === null ? 'unpriced' : money(cost, currency));
    const line = {
      label: `${LABELS[part]} by ${used.agent ?? 'unknown'}`,
      value: `${tokens(used)}, ${priced(used.cost)}`,
    };
    const models = (used.by_model ?? []).map((one) => ({
      label: `${LABELS[part]}: ${one.model ?? 'unknown model'}`,
      value: `${tokens(one)}, ${priced(one.cost)}`,
    }));
    return [line, ...models];
  });

/** The body of the tab Cost. */
export const costView = (step: ShownStep, currency: string) => ({
  amount: step.cost === null ? '–' : money(step.cost, currency),
  why: whyCost(step),
  rows: [
    { label: 'Input tokens', value: count(step.input_tokens) },
    { label: 'of these cached', value: cachedTokens(step) },
    { label: 'Output tokens', value: count(step.output_tokens) },
    { label: 'Model', value: step.model ?? '–' },
    { label: 'Provider', value: step.provider ?? '–' },
    { label: 'Attempts', value: String(step.attempts) },
    ...parts(step, currency),
  ],
});
