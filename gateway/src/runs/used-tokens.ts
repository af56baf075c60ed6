import { MAX_TOKENS, type ModelUsage as UsedByModel, type Usage } from '@signalbox/crds';
import type { ModelUsage } from '../models/model.ts';
import type { ModelRoute } from '../models/route.ts';

/** What the model calls of one run used, whatever became of them. */
export class UsedTokens {
  /** By provider and model; empty where no provider counted. */
  private readonly models = new Map<string, UsedByModel>();

  add({ provider, model }: ModelRoute, usage: ModelUsage): void {
    if (usage.input === null && usage.output === null) return;
    const key = JSON.stringify([provider, model]);
    this.models.set(key, { provider, model, ...added(this.models.get(key) ?? NOTHING, usageOf(usage)) });
  }

  total(): Usage {
    return [...this.models.values()].reduce<Usage>(added, NOTHING);
  }

  /** As a result of `/rpc` says it: by model where it was not all used by the model that the result names. */
  said(answeredBy: ModelRoute | null): { usage: Usage | null; usage_by_model?: UsedByModel[] } {
    if (this.models.size === 0) return { usage: null };
    const by = [...this.models.values()];
    const isAll = by.every(({ provider, model }) => provider === answeredBy?.provider && model === answeredBy.model);
    return { usage: this.total(), ...(!isAll && { usage_by_model: by }) };
  }
}

const NOTHING: Usage = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 };

/** A result whose sum is larger could not be read. */
const sum = (one: number, other: number): number => Math.min(one + other, MAX_TOKENS);

const added = (one: Usage, other: Usage): Usage => ({
  input_tokens: sum(one.input_tokens, other.input_tokens),
  output_tokens: sum(one.output_tokens, other.output_tokens),
  cached_input_tokens: sum(one.cached_input_tokens, other.cached_input_tokens),
});

export const usageOf = (usage: ModelUsage): Usage => ({
  input_tokens: usage.input ?? 0,
  output_tokens: usage.output ?? 0,
  cached_input_tokens: usage.cachedInput ?? 0,
});
