import { LIMITS } from '../kinds/fields.ts';
import type { Pipeline } from '../kinds/pipeline.ts';
import type { Finding, Loc } from '../problem.ts';
import { didYouMean } from '../references/closest-name.ts';
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
  const calls = new Map(pipelines.map((pipeline) => [pipeline.name, callsOf(pipeline)]));
  const circular = new Set(
    [...calls.keys()].filter((name) => calls.get(name)?.some(({ to }) => reaches(to, name, calls))),
  );
  const depth = depths(new Map([...calls].filter(([name]) => !circular.has(name))));
  return new Map(
    [...calls].map(([name, own]) => [name, own.flatMap((call) => check(name, call, { calls, depth, declared }))]),
  );
}

interface Graph {
  calls: ReadonlyMap<string, readonly Call[]>;
  depth: ReadonlyMap<string, number>;
  declared: ReadonlySet<string>;
}

function check(from: string, { to, loc }: Call, { calls, depth, declared }: Graph): Finding[] {
  if (!declared.has(to)) {
    const msg = `pipeline "${to}" does not exist${didYouMean(to, declared)}`;
    return [{ loc, msg, reason: 'missing_pipeline' }];
  }
  if (reaches(to, from, calls)) return [{ loc, msg: `calls itself through "${to}"`, reason: 'cycle' }];
  if (1 + (depth.get(to) ?? 0) > LIMITS.subPipelineDepth)
    return [{ loc, msg: `calls more than ${LIMITS.subPipelineDepth} levels of pipelines`, reason: 'too_deep' }];
  return [];
}

function reaches(start: string, goal: string, calls: ReadonlyMap<string, readonly Call[]>): boolean {
  const seen = new Set<string>();
  const open = [start];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === goal) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    open.push(...(calls.get(at) ?? []).map(({ to }) => to));
  }
  return false;
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

/** The calls of other pipelines in a pipeline. */
export function callsOf(pipeline: Pipeline): Call[] {
  return pipeline.steps.flatMap((step, index) => callsIn(step, ['steps', index]));
}

function callsIn(step: Step, loc: Loc): Call[] {
  if (isParallel(step))
    return step.parallel.steps.flatMap((branch, index) => call(branch, [...loc, 'parallel', 'steps', index]));
  return isFanOut(step) ? call(step.fan_out.step, [...loc, 'fan_out', 'step']) : call(step, loc);
}

function call(step: ItemStep, loc: Loc): Call[] {
  return step.executor === 'pipeline' ? [{ to: step.pipeline, loc: [...loc, 'pipeline'] }] : [];
}
