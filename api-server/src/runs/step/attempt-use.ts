import type { Begun } from '../evidence/step-execution.ts';
import { type PriceOf, spend } from '../cost/cost.ts';
import type { RawResponse, StepExecution } from '../state/model.ts';
import type { CallFacts, Performed } from '../state/step-kind.ts';

/** What an attempt used is spent, and what it did is evidence, whatever became of it. */
export function countUse(priceOf: PriceOf, begun: Begun, { facts }: Performed): void {
  if (!facts) return;
  const { agent, executor } = begun.row;
  if (executor === 'gateway' || executor === 'external')
    spend(priceOf, begun, { part: 'answer', executor, agent }, facts.uses);
  begun.facts = begun.facts ? following(begun.facts, facts) : facts;
}

/** Of failed attempts before a restart. */
export const paidBefore = (earlier: StepExecution | undefined) => earlier?.rawResponse?.costs ?? [];

/** The last answer, and what led to it. */
const following = (earlier: CallFacts, last: CallFacts): CallFacts => ({
  ...last,
  model: last.model ?? earlier.model,
  provider: last.provider ?? earlier.provider,
  agentVersion: last.agentVersion ?? earlier.agentVersion,
  raw: {
    ...last.raw,
    ...added('iterations', earlier.raw, last.raw),
    ...added('toolCalls', earlier.raw, last.raw),
    ...added('charged', earlier.raw, last.raw),
    ...(earlier.raw.traceCut && { traceCut: true }),
    ...(earlier.raw.trace && { trace: [...earlier.raw.trace, ...(last.raw.trace ?? [])] }),
  },
});

const added = (
  what: 'iterations' | 'toolCalls' | 'charged',
  earlier: RawResponse,
  last: RawResponse,
): Partial<RawResponse> => (earlier[what] === undefined ? {} : { [what]: earlier[what] + (last[what] ?? 0) });
