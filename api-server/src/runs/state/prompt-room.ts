import type { ActiveRun } from './active-run.ts';
import { failure, type Failure } from './executor.ts';
import type { RawResponse } from './model.ts';
import { topOf } from './workers.ts';

interface HeldPrompt extends Disposable {
  /** Why it is not sent: its run and the sub-runs hold too much. */
  refused: Failure | null;
}

/** The prompts of steps that go on, which may wait for people by the thousand. */
export interface PromptRoom {
  hold(run: ActiveRun, raw: RawResponse | null): HeldPrompt;
  /** Characters of all that are held. */
  chars(): number;
}

const TOO_LARGE = failure(
  'prompts_too_large',
  'the prompts of this run and its sub-runs that go on hold too much memory',
);

/** Of a prompt in memory: where it is asked, and in its row. */
const COPIES = 2;

/** `maxOfRun`: characters that one run and its sub-runs may hold. */
export function createPromptRoom(maxOfRun: number): PromptRoom {
  let all = 0;
  const held = new WeakMap<ActiveRun, number>();
  return {
    hold: (run, raw) => {
      const top = topOf(run);
      const chars = raw === null ? 0 : COPIES * JSON.stringify(raw).length;
      const before = held.get(top) ?? 0;
      if (before + chars > maxOfRun) return { refused: TOO_LARGE, [Symbol.dispose]: () => undefined };
      const add = (more: number) => {
        all += more;
        held.set(top, (held.get(top) ?? 0) + more);
      };
      add(chars);
      return { refused: null, [Symbol.dispose]: () => add(-chars) };
    },
    chars: () => all,
  };
}
