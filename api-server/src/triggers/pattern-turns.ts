import { setImmediate } from 'node:timers/promises';
import { limitedNamespace, MAX_PATTERN_WORK } from '@signalbox/crds';
import type { LoadedPipeline } from '../definitions/snapshot.ts';

/** Characters times instructions that are compared without waiting for a turn, a few milliseconds. */
const AT_ONCE = 100_000;
/** Of one delivery with the pipelines of one namespace: seconds. */
const MOST_OF_NAMESPACE = 100_000_000;

/** The rules of one delivery, which are compared in turns of the event loop. */
export interface PatternTurns {
  /** Counts what is compared at once; false where the namespace of the pipeline has had its share of this delivery. */
  spend(pipeline: Pick<LoadedPipeline, 'standing'>, work: number): boolean;
  /** Counts what is no namespace's share; true where others should have a turn first. */
  count(work?: number): boolean;
  /** Resolves when so much may be compared; false where the namespace of the pipeline has had its share of this delivery. */
  take(pipeline: Pick<LoadedPipeline, 'standing'>, work: number): Promise<boolean>;
  /** Waits for a turn. */
  rest(): Promise<void>;
}

/** One after the other, whoever asks: deliveries that come together compare in a turn each. */
let last: Promise<unknown> = Promise.resolve();
const turn = () => (last = last.then(() => setImmediate()));

export function createPatternTurns(): PatternTurns {
  const spent = new Map<string, number>();
  let sinceRest = 0;
  const rest = async () => {
    sinceRest = 0;
    await turn();
  };
  const count = (work = 0) => (sinceRest += work) > AT_ONCE;
  const spend: PatternTurns['spend'] = ({ standing }, work) => {
    const namespace = limitedNamespace(standing);
    if (namespace !== null) {
      const all = (spent.get(namespace) ?? 0) + work;
      if (all > MOST_OF_NAMESPACE) return false;
      spent.set(namespace, all);
    }
    sinceRest += work;
    return true;
  };
  return {
    spend,
    count,
    rest,
    take: async (pipeline, asked) => {
      const work = Math.min(asked, MAX_PATTERN_WORK);
      if (!spend(pipeline, work)) return false;
      if (count()) await rest();
      return true;
    },
  };
}
