import { LIMITS } from '../kinds/fields.ts';
import type { Pipeline } from '../kinds/pipeline.ts';
import type { Finding, Loc } from '../problem.ts';
import { suggestions } from '../references/closest-name.ts';
import { isFanOut, isParallel, type ItemStep, type Step } from '../kinds/step.ts';
import { circlesOf } from './circles.ts';

interface Call {
  to: string;
  loc: Loc;
}

/**
 * Problems of the calls between pipelines, by the caller's name: a pipeline that is not defined, a cycle, and more than five
 * levels below one run. It yields before each part that takes long where there are many calls.
 */
export function* subPipelineFindings(
  pipelines: readonly Pipeline[],
  declared: ReadonlySet<string>,
): Generator<null, Map<string, Finding[]>> {
  const calls = new Map(
    pipelines.flatMap((pipeline) => {
      const own = callsOf(pipeline);
      return own.length === 0 ? [] : [[pipeline.name, own]];
    }),
  );
  yield null;
  const circles = circlesOf(new Map([...calls].map(([name, own]) => [name, own.map(({ to }) => to)])));
  yield null;
  const open = [...calls].filter(([name, own]) => !own.some(({ to }) => isCircular(name, to, circles)));
  const depth = depths(new Map(open));
  const graph = { circles, depth, declared, meant: suggestions(declared) };
  yield null;
  return new Map([...calls].map(([name, own]) => [name, own.flatMap((call) => check(name, call, graph))]));
}

type Circles = ReadonlyMap<string, string>;

const isCircular = (from: string, to: string, circles: Circles): boolean => circles.get(from) === circles.get(to);

interface Graph {
  circles: Circles;
  depth: ReadonlyMap<string, number>;
  declared: ReadonlySet<string>;
  meant(name: string): string;
}

function check(from: string, { to, loc }: Call, { circles, depth, declared, meant }: Graph): Finding[] {
  if (!declared.has(to)) {
    const msg = `pipeline "${to}" does not exist${meant(to)}`;
    return [{ loc, msg, reason: 'missing_pipeline' }];
  }
  if (isCircular(from, to, circles)) return [{ loc, msg: `calls itself through "${to}"`, reason: 'cycle' }];
  if (1 + (depth.get(to) ?? 0) > LIMITS.subPipelineDepth)
    return [{ loc, msg: `calls more than ${LIMITS.subPipelineDepth} levels of pipelines`, reason: 'too_deep' }];
  return [];
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
