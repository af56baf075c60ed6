import type { LibraryStep } from '../kinds/library-step.ts';
import type { Pipeline } from '../kinds/pipeline.ts';
import { isFanOut, isParallel, type ItemStep, type Step } from '../kinds/step.ts';
import type { Loc } from '../problem.ts';

/** A step whose result others may read. */
export interface KnownStep {
  name: string;
  /** Index of its entry. */
  entry: number;
  /** Keys of its `output`; null where they cannot be known. */
  outputKeys: readonly string[] | null;
  /** Of several branches; null for one that is none. */
  group: 'parallel' | 'fan_out' | null;
}

/** What one place of a definition can read. */
export interface PlaceSight {
  /** Names that exist here beside the metadata of the alert. */
  names: ReadonlySet<string>;
  /** Index of the entry whose text this is; those before it have results. */
  entry: number;
  /** The step at the place itself; null for a group or a text of the pipeline. */
  own: string | null;
  /** Whether the own entry has its result, as for messages about it. */
  isOver: boolean;
  /** Keys of the answer that is judged here; null where they cannot be known. */
  outputKeys: readonly string[] | null;
}

/** What the texts of a definition can read. */
export interface Sight {
  /** Null where they are not known, as in a library step. */
  steps: readonly KnownStep[] | null;
  vars: readonly string[] | null;
  at(loc: Loc): PlaceSight;
}

/** Names that every text has, besides what the sources put into `metadata`. */
const ROOTS =
  'summary severity source pipeline_name run_id team stage labels annotations metadata vars steps context fan_out run now'.split(
    ' ',
  );
/** What the sources and schedules put into `metadata`, which templates also reach without it. */
const FILLED =
  'status alert_count group_labels common_labels common_annotations external_url generator_url starts_at ends_at scheduled_for'.split(
    ' ',
  );
/** What the evidence of a step reads of its answer, by the key that holds the text. */
const OF_ANSWER = ['prompt', 'answer', 'output', 'confidence'];
const LOCAL_NAMES: Readonly<Record<string, readonly string[]>> = {
  verifier: OF_ANSWER,
  grounding: [...OF_ANSWER, 'material'],
  deterministic_checks: [...OF_ANSWER, 'response', 'exit_code', 'stdout', 'stderr'],
  on_failure: ['error'],
};
const WHEN_OVER: ReadonlySet<unknown> = new Set(['on_failure', 'notifications']);

export function sightOfPipeline(pipeline: Pipeline): Sight {
  const { steps, vars } = pipeline;
  return {
    steps: steps.flatMap(knownSteps),
    vars: Object.keys(vars),
    at: (loc) => {
      if (loc[0] === 'concurrency') return placeSight(loc, { entry: -1, own: null, step: null });
      const entry = loc[0] === 'steps' ? Number(loc[1]) : steps.length;
      const step = steps[entry];
      return placeSight(loc.slice(2), { entry, ...ownOf(step, loc.slice(2)) }, loopNames(step, loc));
    },
  };
}

export function sightOfStep(step: LibraryStep): Sight {
  return { steps: null, vars: null, at: (loc) => placeSight(loc, { entry: 0, own: null, step }) };
}

interface Own {
  entry: number;
  own: string | null;
  /** The executor step at the place. */
  step: ItemStep | null;
}

function placeSight(below: Loc, { entry, own, step }: Own, more: readonly string[] = []): PlaceSight {
  const key = below.find(
    (part) => typeof part === 'string' && (Object.hasOwn(LOCAL_NAMES, part) || WHEN_OVER.has(part)),
  );
  return {
    names: new Set([...ROOTS, ...FILLED, ...(LOCAL_NAMES[String(key)] ?? []), ...more]),
    entry,
    own,
    isOver: WHEN_OVER.has(key),
    outputKeys: step === null ? null : outputKeys(step),
  };
}

/** The step that a place below an entry belongs to. */
function ownOf(entry: Step | undefined, below: Loc): Omit<Own, 'entry'> {
  if (entry === undefined) return { own: null, step: null };
  if (isParallel(entry)) {
    const branch = below[0] === 'parallel' ? entry.parallel.steps[Number(below[2])] : undefined;
    return { own: branch?.name ?? entry.name, step: branch ?? null };
  }
  if (!isFanOut(entry)) return { own: entry.name, step: entry };
  return { own: entry.name, step: below[0] === 'fan_out' && below[1] === 'step' ? entry.fan_out.step : null };
}

/** The variable of a fan-out exists in its branches only. */
function loopNames(entry: Step | undefined, loc: Loc): string[] {
  return entry && isFanOut(entry) && loc[2] === 'fan_out' && loc[3] === 'step' ? [entry.fan_out.as] : [];
}

function knownSteps(step: Step, entry: number): KnownStep[] {
  const { name } = step;
  if (isFanOut(step)) return [{ name, entry, outputKeys: null, group: 'fan_out' }];
  if (!isParallel(step)) return [{ name, entry, outputKeys: outputKeys(step), group: null }];
  const branches = step.parallel.steps.map((branch) => ({
    name: branch.name,
    entry,
    outputKeys: outputKeys(branch),
    group: null,
  }));
  return [{ name, entry, outputKeys: null, group: 'parallel' }, ...branches];
}

const OPEN_ENDED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties', 'additionalProperties'];

/** The keys that a schema of an answer names, where it names all that the author counts on. */
function outputKeys(step: ItemStep): string[] | null {
  if (step.executor !== 'gateway' && step.executor !== 'external') return null;
  const { properties, ...schema } = step.output_schema ?? {};
  if (typeof properties !== 'object' || properties === null) return null;
  return OPEN_ENDED.some((key) => schema[key] !== undefined && schema[key] !== false) ? null : Object.keys(properties);
}
