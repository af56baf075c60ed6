/** Numbers from a seed, the same on every machine. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  below(limit: number): number;
  /** True in `percent` of 100 calls. */
  chance(percent: number): boolean;
  /** Most values near `middle`, few many times as large. */
  around(middle: number): number;
  text(characters: number): string;
}

const WORDS =
  'pool timeout latency checkout database replica node disk memory restart deploy release error retry queue connection limit saturated upstream certificate'.split(
    ' ',
  );

/** The generator mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const text = (characters: number): string => {
    let made = '';
    while (made.length < characters) made += `${WORDS[below(WORDS.length)]} ${below(10_000)} `;
    return made.slice(0, characters);
  };
  return {
    next,
    below,
    chance: (percent) => next() * 100 < percent,
    around: (middle) => middle * Math.exp(next() + next() + next() - 1.5),
    text,
  };
}

/** A UUID of version 7 for a time and a draw. */
export function idAt(time: number, { below }: Random): string {
  const digits = (value: number, length: number): string => value.toString(16).padStart(length, '0');
  const high = digits(Math.floor(time / 0x10000), 8);
  const tail = digits(below(0x1_0000_0000), 8) + digits(below(0x10000), 4);
  return `${high}-${digits(time % 0x10000, 4)}-7${digits(below(0x1000), 3)}-8${digits(below(0x1000), 3)}-${tail}`;
}
