import type { ActiveRun, Spent } from '../state/active-run.ts';
import type { CostPart, StepExecution } from '../state/model.ts';
import type { ModelUse } from '../state/executor.ts';
import type { Counter } from '../state/records.ts';

/** Rates in currency units per 1,000,000 tokens (Orchestration 2.13). */
export interface ModelPrice {
  provider: string;
  /** A prefix of the model's name. */
  model: string;
  inputPerMtok: number;
  outputPerMtok: number;
  /** Of input tokens that the provider had cached; absent where they cost as much as the others. */
  cachedInputPerMtok?: number;
}

/** What one agent used. */
export type Use = Pick<CostPart, 'provider' | 'model' | 'inputTokens' | 'outputTokens' | 'cachedInputTokens'>;

/** Cost of a use in currency units, and where the price is from; null = no price is known. */
export type PriceOf = (use: Use) => { cost: number; source: string } | null;

const MTOK = 1_000_000;

/** The cached tokens are some of the input tokens. */
export function costOf(
  { inputPerMtok, outputPerMtok, cachedInputPerMtok = inputPerMtok }: ModelPrice,
  use: Use,
): number {
  const input = use.inputTokens ?? 0;
  const cached = Math.min(use.cachedInputTokens ?? 0, input);
  const output = use.outputTokens ?? 0;
  return ((input - cached) * inputPerMtok + cached * cachedInputPerMtok + output * outputPerMtok) / MTOK;
}

/** Prices by the longest prefix of the model's name within its provider. */
export function priceList(prices: readonly ModelPrice[]): PriceOf {
  const longestFirst = prices.toSorted((a, b) => b.model.length - a.model.length);
  return (use) => {
    const { provider, model } = use;
    const price = longestFirst.find(
      (one) => one.provider === provider && model !== null && model.startsWith(one.model),
    );
    return price ? { cost: costOf(price, use), source: 'manual' } : null;
  };
}

export const NO_PRICES: PriceOf = () => null;

/** What a step has spent so far, one part for each agent and model that was asked for it. */
export interface Spending {
  run: Pick<ActiveRun, 'totals' | 'parent'>;
  costs: CostPart[];
}

/** Adds what an agent used to its step and run at once, so that budgets see it; agents that count no tokens cost nothing. */
export function spend(priceOf: PriceOf, { run, costs }: Spending, asked: Asked, uses: readonly ModelUse[]): void {
  for (const use of uses) {
    const price = priceOf(use);
    const cost = price && price.cost;
    addPart(costs, { ...asked, ...use, calls: 1, cost, source: price && price.source });
    addUse(run, { ...use, cost });
  }
}

type Asked = Pick<CostPart, 'part' | 'executor' | 'agent'>;

/** Calls of one agent and model at one price are one part, however many retries and iterations made them. */
function addPart(costs: CostPart[], part: CostPart): void {
  const known = costs.find((one) => SAME.every((key) => one[key] === part[key]));
  if (!known) return void costs.push(part);
  known.calls = (known.calls ?? 0) + 1;
  known.inputTokens = plus(known.inputTokens, part.inputTokens);
  known.outputTokens = plus(known.outputTokens, part.outputTokens);
  known.cachedInputTokens = plus(known.cachedInputTokens, part.cachedInputTokens);
  known.cost = plus(known.cost, part.cost);
}

const SAME = ['part', 'executor', 'agent', 'model', 'provider', 'source'] as const;

/** Null where neither is known. */
const plus = (one: number | null | undefined, other: number | null | undefined): number | null =>
  (one ?? null) === null && (other ?? null) === null ? null : (one ?? 0) + (other ?? 0);

function addUse(
  { totals, parent }: Spending['run'],
  { inputTokens, outputTokens, cost }: { inputTokens: number; outputTokens: number; cost: number | null },
): void {
  totals.inputTokens += inputTokens;
  totals.outputTokens += outputTokens;
  if (cost !== null) totals.cost = (totals.cost ?? 0) + cost;
  addBelow(parent, { tokens: inputTokens + outputTokens, cost: cost ?? 0 });
}

/** Adds what a sub-run spent to all runs above it. */
export function addBelow(parent: ActiveRun | null, { tokens, cost }: Spent): void {
  for (let run = parent; run !== null; run = run.parent) {
    run.below.tokens += tokens;
    run.below.cost += cost;
  }
}

/** What a step used and cost, whoever was asked for it: the sums of its row. */
export interface StepCost {
  /** Of the calls that have a price; null where none has. */
  cost: number | null;
  source: string | null;
  /** Calls without a price; null where there is none. */
  unpricedCalls: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
}

/** What a run has spent, from its rows; what a rerun took over was paid for by the original. */
export function spentBy(steps: readonly StepExecution[]): ActiveRun['totals'] {
  const paid = steps.filter(({ rawResponse }) => rawResponse?.loaded === undefined).map(soFar);
  const costs = paid.flatMap(({ cost }) => cost ?? []);
  return {
    inputTokens: sum(paid, ({ inputTokens }) => inputTokens ?? 0),
    outputTokens: sum(paid, ({ outputTokens }) => outputTokens ?? 0),
    cost: costs.length === 0 ? null : sum(costs, (cost) => cost),
    unpricedSteps: paid.filter((step) => step.status !== 'running' && isUnpriced(step)).length,
    warningCount: sum(paid, ({ trustReport }) => trustReport?.warnings?.length ?? 0),
  };
}

/** The row of a step in flight has no sums yet, but the parts of its failed attempts. */
const soFar = (step: StepExecution): StepExecution =>
  step.status === 'running' ? { ...step, ...stepCost(step.rawResponse?.costs ?? []) } : step;

/** Who used what for a step; null where that is not recorded, as for failed calls before version 0.2.0. */
export function partsOf(step: StepExecution): readonly CostPart[] | null {
  if (step.rawResponse?.costs) return step.rawResponse.costs;
  const { agent, model, provider, inputTokens, outputTokens, cost, costSource: source } = step;
  if (inputTokens === null && outputTokens === null) return null;
  return [{ part: 'answer', agent, model, provider, inputTokens, outputTokens, cost, source }];
}

/** Input tokens of a run that providers had cached; null where nobody said. */
export const cachedBy = (steps: readonly StepExecution[]): number | null =>
  total(
    steps.filter(({ rawResponse }) => rawResponse?.loaded === undefined).flatMap((step) => partsOf(step) ?? []),
    ({ cachedInputTokens }) => cachedInputTokens,
  );

/** A call that used tokens and has no price. */
export const isUnpriced = (
  step: Pick<StepExecution, 'cost' | 'unpricedCalls' | 'inputTokens' | 'outputTokens'>,
): boolean => (step.unpricedCalls ?? 0) > 0 || (step.cost === null && (step.inputTokens ?? step.outputTokens) !== null);

const sum = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((total, item) => total + pick(item), 0);

/** The least certain source first. */
const SOURCES = ['live_cross_provider', 'live_exact', 'manual'];

export function stepCost(costs: readonly CostPart[]): StepCost {
  const priced = costs.filter(({ cost }) => cost !== null);
  const unpriced = sum(
    costs.filter(({ cost }) => cost === null),
    ({ calls }) => calls ?? 1,
  );
  return {
    cost: total(costs, ({ cost }) => cost),
    source: SOURCES.find((name) => priced.some(({ source }) => source === name)) ?? null,
    unpricedCalls: unpriced === 0 ? null : unpriced,
    inputTokens: total(costs, ({ inputTokens }) => inputTokens),
    outputTokens: total(costs, ({ outputTokens }) => outputTokens),
  };
}

/** Null where no part says a number. */
export function total(parts: readonly CostPart[], pick: (part: CostPart) => number | null | undefined): number | null {
  return parts.map(pick).reduce<number | null>(plus, null);
}

export interface Payer {
  pipeline: string;
  team: string | null;
  /** When it was spent, in milliseconds: budgets are of a month in UTC. */
  at: number;
}

/** Hidden from the metrics: what a team spent in a month, of which only the share of its budget is shown. */
export const TEAM_SPEND = 'team_spend';
/** Hidden from the metrics: the tokens that the runs of a namespace used in a month. */
export const NAMESPACE_TOKENS = 'namespace_tokens';
export const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7);

/** What the priced parts of a step add to the metrics (Orchestration 6). */
export function costCounters({ pipeline, team, at }: Payer, costs: readonly CostPart[]): Counter[] {
  return costs.flatMap(({ executor, agent, provider, model, cost, source }) => {
    if (cost === null || source === null) return [];
    const answered = [model ?? '', provider ?? ''];
    const all = [
      { metric: 'pipeline_cost_total', labels: [pipeline, team ?? '', ...answered, source], value: cost },
      { metric: 'agent_cost_total', labels: [team ?? '', executor ?? '', agent ?? '', ...answered], value: cost },
    ];
    return team === null ? all : [...all, { metric: TEAM_SPEND, labels: [team, monthOf(at)], value: cost }];
  });
}
