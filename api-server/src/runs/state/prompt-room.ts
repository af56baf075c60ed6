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
  'the prompts of this run and its sub-runs, or of all runs of its namespace, that go on hold too much memory',
);

/** Of a prompt in memory: where it is asked, and in its row. */
const COPIES = 2;

/** Runs of one namespace hold as much as so many together. */
const RUNS_OF_NAMESPACE = 4;

/** `maxOfRun`: characters that one run and its sub-runs may hold. */
export function createPromptRoom(maxOfRun: number): PromptRoom {
  let all = 0;
  const held = new WeakMap<ActiveRun, number>();
  const ofNamespaces = new Map<string, number>();
  return {
    hold: (run, raw) => {
      const top = topOf(run);
      const chars = raw === null ? 0 : COPIES * JSON.stringify(raw).length;
      const { namespace } = top;
      const own = () => held.get(top) ?? 0;
      const theirs = () => (namespace === null ? 0 : (ofNamespaces.get(namespace) ?? 0));
      if (own() + chars > maxOfRun || theirs() + chars > RUNS_OF_NAMESPACE * maxOfRun)
        return { refused: TOO_LARGE, [Symbol.dispose]: () => undefined };
      const add = (more: number) => {
        all += more;
        held.set(top, own() + more);
        if (namespace !== null) ofNamespaces.set(namespace, theirs() + more);
      };
      add(chars);
      return { refused: null, [Symbol.dispose]: () => add(-chars) };
    },
    chars: () => all,
  };
}
