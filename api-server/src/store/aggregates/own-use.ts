import { sql } from 'kysely';
import { stepCost } from '../../runs/cost/cost.ts';
import type { RawResponse } from '../../runs/state/model.ts';

/** What a row used, and where a second agent was asked about its answer, who used what. */
export const OWN_USE = [
  'step_executions.input_tokens',
  'step_executions.output_tokens',
  'step_executions.cost',
] as const;
export const PARTS = sql<string | null>`case when step_executions.raw_response like '%"part":"verifier"%'
  or step_executions.raw_response like '%"part":"grounding"%' then step_executions.raw_response end`;

export interface OwnUseRow {
  input_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
  parts: string | null;
}

/** What the step's own agent used: a replay asks nobody else. */
export function ownUse({ input_tokens: inputTokens, output_tokens: outputTokens, cost, parts }: OwnUseRow) {
  if (parts === null) return { inputTokens, outputTokens, cost };
  const { costs = [] } = JSON.parse(parts) as RawResponse;
  const own = stepCost(costs.filter(({ part }) => part === 'answer'));
  return { inputTokens: own.inputTokens, outputTokens: own.outputTokens, cost: own.cost };
}
