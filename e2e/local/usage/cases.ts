import fc from 'fast-check';
import { stringify } from 'yaml';
import type { Kind, Reply, Role } from './scripted-model.ts';

/** Prices in currency units per 1,000,000 tokens; models without an entry are the holes. */
export const PRICES = [
  { model: 'm-main', input_per_mtok: 3, output_per_mtok: 15 },
  { model: 'm-spare', input_per_mtok: 1, output_per_mtok: 2, cached_input_per_mtok: 0.1 },
  { model: 'm-review', input_per_mtok: 5, output_per_mtok: 7, cached_input_per_mtok: 0 },
];
export const AGENTS = {
  worker: { model: 'fake/m-main', model_fallbacks: ['fake/m-spare'] },
  unpriced: { model: 'fake/m-free' },
  reviewer: { model: 'fake/m-review' },
  judge: { model: 'fake/m-judge' },
};

const KINDS: { arbitrary: fc.Arbitrary<Kind>; weight: number }[] = [
  { arbitrary: fc.constant('sure'), weight: 3 },
  { arbitrary: fc.constant('unsure'), weight: 2 },
  { arbitrary: fc.constant('invalid'), weight: 3 },
  { arbitrary: fc.constant('tool'), weight: 3 },
  { arbitrary: fc.constant('broken'), weight: 1 },
  { arbitrary: fc.constant('busy'), weight: 2 },
  { arbitrary: fc.constant('refused'), weight: 3 },
];
const tokens = fc.nat({ max: 5_000 });
const reply: fc.Arbitrary<Reply> = fc
  .record({ kind: fc.oneof(...KINDS), input: tokens, cachedShare: fc.nat({ max: 4 }), output: tokens })
  .map(({ cachedShare, ...rest }) => ({ ...rest, cached: Math.floor((rest.input * cachedShare) / 4) }));
/** The gateway asks a model three times, and then its fallback: after this an attempt has failed. */
const down: Reply[] = Array.from({ length: 6 }, () => ({ kind: 'busy', input: 0, cached: 0, output: 0 }));
const script = fc
  .array(fc.oneof({ arbitrary: reply.map((one) => [one]), weight: 4 }, { arbitrary: fc.constant(down), weight: 1 }), {
    maxLength: 6,
  })
  .map((replies) => replies.flat());

const agent = fc.constantFrom('worker', 'unpriced');
const quickStep = fc.record({
  agent,
  timeout: fc.constant(null),
  attempts: fc.constantFrom(1, 3, 3),
  loops: fc.constantFrom(1, 3),
  verifier: fc.boolean(),
  grounding: fc.boolean(),
  scripts: fc.record({ agent: script, verifier: script, grounding: script }),
});
/** Ends in the middle of a call, after one that was answered or at once. */
const slowStep = fc.record({ agent, answered: fc.array(reply, { maxLength: 1 }) }).map(({ agent: asked, answered }) => {
  const goesOn = answered.map((one) => ({ ...one, kind: 'tool' as const }));
  const slow: Reply = { kind: 'slow', input: 0, cached: 0, output: 0 };
  const scripts = { agent: [...goesOn, slow], verifier: [], grounding: [] };
  return { agent: asked, timeout: 2, attempts: 1, loops: 1, verifier: false, grounding: false, scripts };
});
const plainStep = fc.oneof({ arbitrary: quickStep, weight: 6 }, { arbitrary: slowStep, weight: 1 });
type Made<A> = A extends fc.Arbitrary<infer T> ? T : never;
export type PlainStep = Made<typeof plainStep>;

/** The shape of a run: entries of one step, or of two branches; a fan-out; and steps of its sub-run, if it has one. */
export const oneCase = fc.record({
  entries: fc.array(fc.array(plainStep, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  fan: fc.option(fc.record({ step: plainStep, items: fc.integer({ min: 1, max: 3 }) })),
  sub: fc.array(plainStep, { maxLength: 2 }),
});
export type Case = Made<typeof oneCase>;

export interface Built {
  /** Pipelines by name, the called one first. */
  yaml: string[];
  /** Steps by name, of the run and of its sub-run. */
  own: [string, PlainStep][];
  sub: [string, PlainStep][];
}

const NO_STEP: PlainStep = {
  agent: 'worker',
  timeout: null,
  attempts: 1,
  loops: 1,
  verifier: false,
  grounding: false,
  scripts: { agent: [], verifier: [], grounding: [] },
};
export const ROLES: readonly Role[] = ['agent', 'verifier', 'grounding'];

/** The pipelines of a case; every prompt says whose it is. */
export function build(id: string, { entries, fan, sub }: Case): Built {
  const single = entries.flatMap((steps, at) =>
    steps.map((step, branch): [string, PlainStep] => [`s${at}b${branch}`, step]),
  );
  const branches = Array.from({ length: fan?.items ?? 0 }, (_, at) => `fan/${at}`);
  const own = [
    ...single,
    ...branches.map((name): [string, PlainStep] => [name, (fan as NonNullable<typeof fan>).step]),
  ];
  const below = sub.map((step, at): [string, PlainStep] => [`sub${at}`, step]);
  const stepOf = (name: string, step: PlainStep, alone: boolean) => ({
    name,
    executor: 'gateway',
    agent: step.agent,
    prompt_template: `Look at [${id}/${name}]`,
    retry: { attempts: step.attempts, backoff: 'fixed', delay_seconds: 0.001 },
    on_failure: 'continue',
    ...(step.timeout !== null && { timeout_seconds: step.timeout }),
    ...(alone && { on_low_confidence: 'proceed' }),
    ...(step.loops > 1 && { loop_until: { confidence: 0.9, max_iterations: step.loops } }),
    ...(step.verifier && { verifier: { executor: 'gateway', agent: 'reviewer' } }),
    ...(step.grounding && { grounding: { agent: 'judge' } }),
  });
  const body = entries.map((steps, at) => {
    const named = steps.map((step, branch) => stepOf(`s${at}b${branch}`, step, steps.length === 1));
    const join = { join: 'any_must_pass', steps: named };
    return steps.length === 1
      ? named[0]
      : { name: `both${at}`, parallel: join, on_low_confidence: 'proceed', on_failure: 'continue' };
  });
  const { name: _, ...branch } = stepOf('fan/{{fan_out.index}}', fan?.step ?? NO_STEP, false);
  const fanOut = {
    name: 'fan',
    fan_out: { over: JSON.stringify(branches), as: 'item', join: 'any_must_pass', step: branch },
    on_low_confidence: 'proceed',
    on_failure: 'continue',
  };
  const steps = fan ? [...body, fanOut] : body;
  const call = {
    name: 'call',
    executor: 'pipeline',
    pipeline: `${id}-sub`,
    on_low_confidence: 'proceed',
    on_failure: 'continue',
  };
  const pipeline = (name: string, all: unknown[]) => stringify({ name, stage: 'production', steps: all });
  if (sub.length === 0) return { yaml: [pipeline(id, steps)], own, sub: [] };
  const called = pipeline(
    `${id}-sub`,
    below.map(([name, step]) => stepOf(name, step, true)),
  );
  return { yaml: [called, pipeline(id, [...steps, call])], own, sub: below };
}
