import { type ModelRoute, nameOf } from './route.ts';

/** When a model is left alone: after so many failed requests in a row, for so long. */
export interface CooldownRule {
  failures: number;
  seconds: number;
}

export interface CooldownDeps {
  ruleOf: (provider: string) => CooldownRule;
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
  onRest: (model: ModelRoute, rule: CooldownRule) => void;
  onRecovered: (model: ModelRoute) => void;
}

interface Count {
  failures: number;
  /** In the milliseconds of `now`; 0 where it does not rest, infinite while a request probes it. */
  restsUntil: number;
}

/** Callers invent names of models: beyond so many, the one that failed longest ago is forgotten. */
const MAX_COUNTED = 1000;

/**
 * The models that failed several times in a row, and until when they rest. Each model of a provider is counted alone: providers limit
 * each of them alone, and a model that one agent cannot use leaves the others' models as they are.
 */
export class Cooldowns {
  private readonly counts = new Map<string, Count>();
  private readonly deps: CooldownDeps;

  constructor(deps: CooldownDeps) {
    this.deps = deps;
  }

  /** Whether other models go first. No longer true when the rest is over, until a request begins. */
  rests(model: ModelRoute): boolean {
    return this.deps.now() < (this.counts.get(nameOf(model))?.restsUntil ?? 0);
  }

  /** A request to the model begins. The first one after a rest is the probe: the model rests for all others until it ends. */
  begin(model: ModelRoute): void {
    const count = this.counts.get(nameOf(model));
    if (count && count.restsUntil > 0 && !this.rests(model)) count.restsUntil = Number.POSITIVE_INFINITY;
  }

  /** A request ended; `unknown` where it was given up before the model could answer or fail. */
  end(model: ModelRoute, outcome: 'answered' | 'failed' | 'unknown'): void {
    const name = nameOf(model);
    const count = this.counts.get(name);
    if (outcome === 'failed') return this.fail(model, (count?.failures ?? 0) + 1);
    if (!count) return;
    if (outcome === 'unknown') {
      // The next request probes again.
      if (count.restsUntil === Number.POSITIVE_INFINITY) count.restsUntil = this.deps.now();
      return;
    }
    this.counts.delete(name);
    if (count.restsUntil > 0) this.deps.onRecovered(model);
  }

  private fail(model: ModelRoute, failures: number): void {
    const rule = this.deps.ruleOf(model.provider);
    const isResting = failures >= rule.failures;
    this.counts.delete(nameOf(model));
    const [oldest] = this.counts.keys();
    if (this.counts.size >= MAX_COUNTED && oldest !== undefined) this.counts.delete(oldest);
    this.counts.set(nameOf(model), { failures, restsUntil: isResting ? this.deps.now() + rule.seconds * 1000 : 0 });
    if (failures === rule.failures) this.deps.onRest(model, rule);
  }
}
