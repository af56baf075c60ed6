import type { Done, Work } from './work.ts';

/** What comes next of a large definition, and its name. */
export interface Ahead {
  name: string;
  work: Work;
}

/**
 * Work in parts, each of which takes well under a fifth of a second: it yields before each part. A part with work may get its
 * result, and does it itself where it gets none.
 */
export type Turns<T> = Generator<Ahead | null, T, Done | undefined>;

/** The result of the work, in one go. */
export function atOnce<T>(turns: Turns<T>): T {
  for (;;) {
    const turn = turns.next();
    if (turn.done) return turn.value;
  }
}

export interface Resting {
  /** Lets the event loop do other work. */
  rest(): Promise<void>;
  /** Does the work of a large definition elsewhere, within bounds of time and memory; without it, it is done here. */
  work?(ahead: Ahead): Promise<Done | undefined>;
}

/** The result of the work, which does what may take long elsewhere. */
export async function inTurns<T>(turns: Turns<T>, resting: Resting): Promise<T> {
  let done: Done | undefined;
  for (;;) {
    const turn = turns.next(done);
    if (turn.done) return turn.value;
    await resting.rest();
    done = turn.value ? await resting.work?.(turn.value) : undefined;
  }
}
