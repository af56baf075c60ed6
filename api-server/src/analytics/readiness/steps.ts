import { isFanOut, isParallel, type Pipeline, promptHash, type Readiness, READINESS_DEFAULTS } from '@signalbox/crds';

export const TIERS = ['operational', 'confidence', 'accuracy', 'calibration'] as const;
export type Tier = (typeof TIERS)[number];

/** Who wrote a tier: the nearest wins as a whole. */
export type Source = 'pipeline' | 'group' | 'step';
type Defaults = typeof READINESS_DEFAULTS;
type Knobs<T extends Tier> = Omit<NonNullable<Readiness[T]>, keyof Defaults[T]> & { [K in keyof Defaults[T]]: number };
/** `written`: the knobs that the definition names; the others are defaults. */
export type Criteria = { [T in Tier]?: Knobs<T> & { source: Source; written: readonly string[] } };

/** A step of a pipeline as readiness looks at it; a fan-out stands for its branches. */
export interface ReadinessStep {
  name: string;
  kind: 'step' | 'branch' | 'parallel' | 'fan_out';
  executor: string;
  when: string | null;
  /** Null where the step has no gate. */
  threshold: number | null;
  /** Only of steps that ask one. */
  agent: string | null;
  promptHash: string | null;
  groundingEnforced: boolean;
  criteria: Criteria;
  /** Tiers that are asked for and that such a step can have no evidence for. */
  leftOut: Tier[];
  /** Tiers that the step, or what is above it, exempts from being asked. */
  exempt: Tier[];
}

const AGENT: readonly Tier[] = TIERS;
const GATED: readonly Tier[] = ['operational', 'confidence'];
const CALLED: readonly Tier[] = ['operational'];
/** Who answers with a confidence of its own has all tiers; what an other pipeline is worth is judged there. */
const TIERS_OF: Readonly<Record<string, readonly Tier[]>> = {
  gateway: AGENT,
  external: AGENT,
  pipeline: GATED,
  parallel: GATED,
  human: CALLED,
  webhook: CALLED,
};

/** What readiness looks at of a pipeline: plain data. */
export interface Subject extends Pick<Pipeline, 'name' | 'stage'> {
  steps: readonly ReadinessStep[];
}

export const subjectOf = (pipeline: Pipeline): Subject => ({
  name: pipeline.name,
  stage: pipeline.stage,
  steps: readinessSteps(pipeline),
});

/** Every step that evidence is gathered for, with what is asked of it: entries in order, a group before its branches. */
function readinessSteps({ steps, readiness }: Pick<Pipeline, 'steps' | 'readiness'>): ReadinessStep[] {
  return steps.flatMap((step) => {
    const top: Layer[] = [['pipeline', readiness]];
    if (isFanOut(step)) {
      // The entry is nearer than its item, which may come from the library.
      const layers: Layer[] = [...top, ['group', step.fan_out.step.readiness], ['step', step.readiness]];
      return [stepOf({ ...step.fan_out.step, name: step.name, when: step.when }, 'fan_out', layers)];
    }
    if (!isParallel(step)) return [stepOf(step, 'step', [...top, ['step', step.readiness]])];
    const group = stepOf({ ...step, executor: 'parallel' }, 'parallel', [...top, ['step', step.readiness]]);
    const above: Layer[] = [...top, ['group', step.readiness]];
    const branches = step.parallel.steps.map((branch) =>
      stepOf({ ...branch, when: branch.when ?? step.when }, 'branch', [...above, ['step', branch.readiness]]),
    );
    return [group, ...branches];
  });
}

/** Null exempts from all tiers, as a null in it from one. */
type Layer = [source: Source, asked: Readiness | null | undefined];

interface Shape {
  name: string;
  executor: string;
  when?: string | undefined;
  confidence_threshold?: number;
  agent?: string;
  prompt_template?: string;
  grounding?: { enforce: boolean } | undefined;
}

function stepOf(step: Shape, kind: ReadinessStep['kind'], layers: Layer[]): ReadinessStep {
  const possible = TIERS_OF[step.executor] ?? CALLED;
  const said = TIERS.map((tier) => [tier, nearest(tier, layers)] as const);
  const asked = said.filter((one): one is readonly [Tier, object] => typeof one[1] === 'object' && one[1] !== null);
  const isAgent = step.agent !== undefined;
  return {
    name: step.name,
    kind,
    executor: step.executor,
    when: step.when ?? null,
    threshold: step.confidence_threshold ?? null,
    agent: step.agent ?? null,
    promptHash: isAgent && step.prompt_template !== undefined ? promptHash(step.prompt_template) : null,
    groundingEnforced: step.grounding?.enforce === true,
    criteria: Object.fromEntries(asked.filter(([tier]) => possible.includes(tier))) as Criteria,
    leftOut: asked.map(([tier]) => tier).filter((tier) => !possible.includes(tier)),
    exempt: said.filter(([tier, one]) => one === null && possible.includes(tier)).map(([tier]) => tier),
  };
}

/** What the nearest definition asks; null where it exempts, undefined where none says anything. */
function nearest(tier: Tier, layers: Layer[]): object | null | undefined {
  const found = layers.findLast(([, asked]) => asked === null || asked?.[tier] !== undefined);
  if (!found) return undefined;
  const [source, asked] = found;
  const knobs = asked?.[tier];
  return knobs ? { ...READINESS_DEFAULTS[tier], ...knobs, source, written: Object.keys(knobs) } : null;
}
