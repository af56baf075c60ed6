import type { Pipeline } from '@signalbox/crds';
import type { ActiveRun } from './active-run.ts';
import type { Shares } from './shares.ts';
import { topOf } from './workers.ts';

/** Of an object or a list in memory, of each of its values, and of a text beside what it says. */
const PART_BYTES = 56;
const VALUE_BYTES = 16;
const TEXT_BYTES = 24;
/** A text with one of these takes two bytes for each character. */
const WIDE = /[\u0100-\uffff]/;

const textBytes = (text: string): number => TEXT_BYTES + text.length * (WIDE.test(text) ? 2 : 1);

/** What a definition takes in memory, in bytes. What its uses of a library step share counts once, and each name of a field. */
export function definitionBytes(definition: object): number {
  const parts = new Set([definition]);
  const names = new Set<string>();
  let bytes = 0;
  // Those that are found in it come after it.
  for (const part of parts) {
    bytes += PART_BYTES;
    const isList = Array.isArray(part);
    for (const value of isList ? (part as unknown[]) : Object.values(part)) {
      bytes += VALUE_BYTES + (typeof value === 'string' ? textBytes(value) : 0);
      if (typeof value === 'object' && value !== null) parts.add(value);
    }
    if (!isList) for (const name of Object.keys(part)) names.add(name);
  }
  return bytes + [...names].reduce((sum, name) => sum + textBytes(name), 0);
}

/** Definitions that runs go on with: those of each edition hold one, of which a reload makes others. */
export interface HeldDefinitions {
  hold(run: ActiveRun): void;
  /** Once the run has ended. */
  drop(run: ActiveRun): void;
}

/** Counts each definition once for all runs of a namespace that have it. */
export function createHeldDefinitions(memory: Pick<Shares, 'addCommon'>): HeldDefinitions {
  const sizes = new WeakMap<Pipeline, number>();
  const runsOf = new WeakMap<Pipeline, Map<string | null, number>>();
  const sizeOf = (definition: Pipeline) => {
    const size = sizes.get(definition) ?? definitionBytes(definition);
    sizes.set(definition, size);
    return size;
  };
  const change = (run: ActiveRun, by: 1 | -1) => {
    const { pipeline } = run;
    const { namespace } = topOf(run);
    const runs = runsOf.get(pipeline) ?? new Map<string | null, number>();
    runsOf.set(pipeline, runs);
    const now = (runs.get(namespace) ?? 0) + by;
    runs.set(namespace, now);
    if (now === (by === 1 ? 1 : 0)) memory.addCommon(namespace, by * sizeOf(pipeline));
  };
  return { hold: (run) => change(run, 1), drop: (run) => change(run, -1) };
}
