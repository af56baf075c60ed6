import { LIMITS } from '../kinds/fields.ts';
import type { Pipeline } from '../kinds/pipeline.ts';
import type { Finding, Loc } from '../problem.ts';
import { suggestions } from '../references/closest-name.ts';
import { isFanOut, isParallel, type ItemStep, type Step } from '../kinds/step.ts';

interface Call {
  to: string;
  loc: Loc;
}

/**
 * Problems of the calls between pipelines, by the caller's name: a pipeline that is not defined, a cycle, and more than five
 * levels below one run.
 */
export function subPipelineFindings(
  pipelines: readonly Pipeline[],
  declared: ReadonlySet<string>,
): Map<string, Finding[]> {
  const calls = new Map(
    pipelines.flatMap((pipeline) => {
      const own = callsOf(pipeline);
      return own.length === 0 ? [] : [[pipeline.name, own]];
    }),
  );
  const below = reached(calls);
  const circular = new Set([...calls.keys()].filter((name) => below(name).has(name)));
  const depth = depths(new Map([...calls].filter(([name]) => !circular.has(name))));
  const graph = { below, depth, declared, meant: suggestions(declared) };
  return new Map([...calls].map(([name, own]) => [name, own.flatMap((call) => check(name, call, graph))]));
}

interface Graph {
  below: Below;
  depth: ReadonlyMap<string, number>;
  declared: ReadonlySet<string>;
  meant(name: string): string;
}

function check(from: string, { to, loc }: Call, { below, depth, declared, meant }: Graph): Finding[] {
  if (!declared.has(to)) {
    const msg = `pipeline "${to}" does not exist${meant(to)}`;
    return [{ loc, msg, reason: 'missing_pipeline' }];
  }
  if (to === from || below(to).has(from)) return [{ loc, msg: `calls itself through "${to}"`, reason: 'cycle' }];
  if (1 + (depth.get(to) ?? 0) > LIMITS.subPipelineDepth)
    return [{ loc, msg: `calls more than ${LIMITS.subPipelineDepth} levels of pipelines`, reason: 'too_deep' }];
  return [];
}

type Below = (name: string) => ReadonlySet<string>;

/** The pipelines that one calls, directly or through others. */
function reached(calls: ReadonlyMap<string, readonly Call[]>): Below {
  const direct = new Map([...calls].map(([name, own]) => [name, new Set(own.map(({ to }) => to))]));
  const known = new Map<string, ReadonlySet<string>>();
  return (name) => {
    const found = known.get(name) ?? reachedFrom(name, direct);
    known.set(name, found);
    return found;
  };
}

function reachedFrom(name: string, direct: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const seen = new Set(direct.get(name));
  // A set yields what is added to it on the way.
  for (const at of seen) for (const to of direct.get(at) ?? []) seen.add(to);
  return seen;
}

/** Levels below each pipeline, counted up to the limit; a pipeline in a cycle is reported separately. */
function depths(calls: ReadonlyMap<string, readonly Call[]>): Map<string, number> {
  let known = new Map([...calls.keys()].map((name) => [name, 0]));
  for (let round = 0; round <= LIMITS.subPipelineDepth; round++)
    known = new Map(
      [...calls].map(([name, own]) => [
        name,
        own.reduce((most, { to }) => Math.max(most, 1 + (known.get(to) ?? 0)), 0),
      ]),
    );
  return known;
}

const found = new WeakMap<Pipeline, Call[]>();

/** The calls of other pipelines in a pipeline. */
export function callsOf(pipeline: Pipeline): Call[] {
  const known = found.get(pipeline);
  if (known) return known;
  const calls = pipeline.steps.flatMap((step, index) => callsIn(step, ['steps', index]));
  found.set(pipeline, calls);
  return calls;
}

function callsIn(step: Step, loc: Loc): Call[] {
  if (isParallel(step))
    return step.parallel.steps.flatMap((branch, index) => call(branch, [...loc, 'parallel', 'steps', index]));
  return isFanOut(step) ? call(step.fan_out.step, [...loc, 'fan_out', 'step']) : call(step, loc);
}

function call(step: ItemStep, loc: Loc): Call[] {
  return step.executor === 'pipeline' ? [{ to: step.pipeline, loc: [...loc, 'pipeline'] }] : [];
}
