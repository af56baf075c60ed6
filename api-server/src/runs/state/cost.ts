import type { ActiveRun, Spent } from './active-run.ts';
import type { CostPart, StepExecution } from './model.ts';
import type { Counter } from './records.ts';

/** Rates in currency units per 1,000,000 tokens (Orchestration 2.13). */
export interface ModelPrice {
  provider: string;
  /** A prefix of the model's name. */
  model: string;
  inputPerMtok: number;
  outputPerMtok: number;
}

/** What one agent used. */
export type Use = Pick<CostPart, 'provider' | 'model' | 'inputTokens' | 'outputTokens'>;

/** Cost of a use in currency units, and where the price is from; null = no price is known. */
export type PriceOf = (use: Use) => { cost: number; source: string } | null;

const MTOK = 1_000_000;

/** Prices by the longest prefix of the model's name within its provider. */
export function priceList(prices: readonly ModelPrice[]): PriceOf {
  const longestFirst = prices.toSorted((a, b) => b.model.length - a.model.length);
  return ({ provider, model, inputTokens, outputTokens }) => {
    const price = longestFirst.find(
      (one) => one.provider === provider && model !== null && model.startsWith(one.model),
    );
    if (!price) return null;
    const cost = ((inputTokens ?? 0) * price.inputPerMtok + (outputTokens ?? 0) * price.outputPerMtok) / MTOK;
    return { cost, source: 'manual' };
  };
}

export const NO_PRICES: PriceOf = () => null;

/** What a step has spent so far, one part for each agent that was asked for it. */
export interface Spending {
  run: Pick<ActiveRun, 'totals' | 'parent'>;
  costs: CostPart[];
}

/** Adds what an agent used to its step and run at once, so that budgets see it; agents that count no tokens cost nothing. */
export function spend(priceOf: PriceOf, { run, costs }: Spending, used: Omit<CostPart, 'cost' | 'source'>): void {
  const { inputTokens, outputTokens } = used;
  if (inputTokens === null && outputTokens === null) return;
  const price = priceOf(used);
  costs.push({ ...used, cost: price && price.cost, source: price && price.source });
  addUse(run, { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0, cost: price && price.cost });
}

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

/** What a step's row says of its cost: a step with one part without a known price is unpriced. */
export interface StepCost {
  cost: number | null;
  source: string | null;
  /** Tokens of the step's own agent, over all iterations. */
  inputTokens: number | null;
  outputTokens: number | null;
}

/** What a run has spent, from the rows of its ended steps; what a rerun took over was paid for by the original. */
export function spentBy(steps: readonly StepExecution[]): ActiveRun['totals'] {
  const paid = steps.filter(({ status, rawResponse }) => status !== 'running' && rawResponse?.loaded === undefined);
  const costs = paid.flatMap(({ cost, rawResponse: raw }) =>
    (raw?.costs?.map((part) => part.cost) ?? [cost]).filter((one) => one !== null),
  );
  return {
    inputTokens: sum(paid, (step) => tokensOf(step, 'inputTokens')),
    outputTokens: sum(paid, (step) => tokensOf(step, 'outputTokens')),
    cost: costs.length === 0 ? null : sum(costs, (cost) => cost),
    unpricedSteps: paid.filter(
      ({ inputTokens, outputTokens, cost }) => (inputTokens ?? outputTokens) !== null && cost === null,
    ).length,
    warningCount: sum(paid, ({ trustReport }) => trustReport?.warnings?.length ?? 0),
  };
}

/** Of the step's own agent and of those that were asked about its answer. */
const tokensOf = (step: StepExecution, direction: 'inputTokens' | 'outputTokens'): number =>
  (step[direction] ?? 0) +
  (step.rawResponse?.verifier?.[direction] ?? 0) +
  (step.rawResponse?.grounding?.[direction] ?? 0);

const sum = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((total, item) => total + pick(item), 0);

/** The least certain source first. */
const SOURCES = ['live_cross_provider', 'live_exact', 'manual'];

export function stepCost(costs: readonly CostPart[]): StepCost {
  const own = costs.filter(({ part }) => part === 'answer');
  const priced = costs.length > 0 && costs.every(({ cost }) => cost !== null);
  return {
    cost: priced ? costs.reduce((sum, { cost }) => sum + (cost ?? 0), 0) : null,
    source: priced ? (SOURCES.find((name) => costs.some(({ source }) => source === name)) ?? null) : null,
    inputTokens: tokens(own, ({ inputTokens }) => inputTokens),
    outputTokens: tokens(own, ({ outputTokens }) => outputTokens),
  };
}

function tokens(parts: readonly CostPart[], pick: (part: CostPart) => number | null): number | null {
  const counted = parts.map(pick).filter((number) => number !== null);
  return counted.length === 0 ? null : counted.reduce((sum, number) => sum + number, 0);
}

export interface Payer {
  pipeline: string;
  team: string | null;
  /** When it was spent, in milliseconds: budgets are of a month in UTC. */
  at: number;
}

/** Hidden from the metrics: what a team spent in a month, of which only the share of its budget is shown. */
export const TEAM_SPEND = 'team_spend';
export const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7);

/** What the priced parts of a step add to the metrics (Orchestration 6). */
export function costCounters({ pipeline, team, at }: Payer, costs: readonly CostPart[]): Counter[] {
  return costs.flatMap(({ provider, model, cost, source }) => {
    if (cost === null || source === null) return [];
    const labels = [pipeline, team ?? '', model ?? '', provider ?? '', source];
    const total = { metric: 'pipeline_cost_total', labels, value: cost };
    return team === null ? [total] : [total, { metric: TEAM_SPEND, labels: [team, monthOf(at)], value: cost }];
  });
}
