import type { MemorySample } from './memory-probe.ts';

const SAMPLES_FOR_A_TREND = 8;
/** The gateway remembers its last 10,000 answers, so what it holds still rises by 4 MiB from third to third in three minutes. */
const FILLING = { factor: 1.2, mebibytes: 16 };
/** After twenty minutes they are there, and what still rises would rise for ever: 20 KiB kept of every session were 9 MiB. */
const FILLED = { samples: 240, factor: 1, mebibytes: 5 };
/** Measured: 37 to 60 MiB. */
const MAX_HELD = 150;
/** Measured: 140 to 360 MiB beside what is held, as V8 gives large buffers back late. */
const MAX_RESIDENT = 600;

/** All in MiB. */
export interface MemoryTrend {
  /** The median of what is held in the second and in the last third of the time; null where there were too few samples. */
  readonly held: { readonly before: number; readonly after: number; readonly samples: number } | null;
  readonly highestResident: number;
}

export function trendOf(samples: readonly MemorySample[]): MemoryTrend {
  const third = Math.floor(samples.length / 3);
  return {
    held:
      samples.length < SAMPLES_FOR_A_TREND
        ? null
        : {
            before: medianHeld(samples.slice(third, 2 * third)),
            after: medianHeld(samples.slice(-third)),
            samples: samples.length,
          },
    highestResident: Math.max(0, ...samples.map(({ resident }) => resident)),
  };
}

/** The memory limits that were exceeded, one sentence each. */
export function memoryProblems({ held, highestResident }: MemoryTrend): string[] {
  const limit = held && held.samples >= FILLED.samples ? FILLED : FILLING;
  const grew =
    held && held.after > held.before * limit.factor && held.after > held.before + limit.mebibytes
      ? [`held memory grew from ${mebibytes(held.before)} to ${mebibytes(held.after)}`]
      : [];
  const large =
    highestResident > MAX_RESIDENT
      ? [`the process had ${mebibytes(highestResident)}, more than ${mebibytes(MAX_RESIDENT)}`]
      : [];
  const much =
    held && held.after > MAX_HELD ? [`${mebibytes(held.after)} were held, more than ${mebibytes(MAX_HELD)}`] : [];
  return [...grew, ...much, ...large];
}

export const memorySentence = ({ held, highestResident }: MemoryTrend): string =>
  `heap ${held ? `${mebibytes(held.before)}, then ${mebibytes(held.after)}` : 'measured too briefly for a trend'}; ` +
  `process memory at most ${mebibytes(highestResident)}`;

const mebibytes = (value: number) => `${value.toFixed(1)} MiB`;

const medianHeld = (samples: readonly MemorySample[]): number =>
  samples.map(({ held }) => held).toSorted((a, b) => a - b)[samples.length >> 1] ?? 0;
