import { isFanOut, isParallel, type ItemStep, type Step } from '@signalbox/crds';
import { perSnapshot } from '../../definitions/per-snapshot.ts';
import type { Snapshot } from '../../definitions/snapshot.ts';

/** The steps of the pipeline that a step starts. */
export const entriesOf = ({ byName }: Snapshot, { pipeline }: { pipeline: string }): readonly Step[] =>
  byName.get(pipeline)?.config.steps ?? [];

/** Whether people decide in an entry, or in a pipeline below it. */
export function asksPeople(snapshot: Snapshot, entry: Step): boolean {
  return stepsIn(entry).some((step) => asks(snapshot, step));
}

/** Pipelines that ask people, or do not, in themselves and below: there are far more ways down to them than pipelines. */
const knownToAsk = perSnapshot(() => new Map<string, boolean>());

export function asks(snapshot: Snapshot, step: ItemStep): boolean {
  if (step.executor !== 'pipeline') return step.executor === 'human';
  const known = knownToAsk(snapshot);
  const found = known.get(step.pipeline) ?? entriesOf(snapshot, step).some((below) => asksPeople(snapshot, below));
  known.set(step.pipeline, found);
  return found;
}

function stepsIn(entry: Step): readonly ItemStep[] {
  if (isParallel(entry)) return entry.parallel.steps;
  return isFanOut(entry) ? [entry.fan_out.step] : [entry];
}
