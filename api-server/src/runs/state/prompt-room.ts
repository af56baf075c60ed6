import type { ActiveRun } from './active-run.ts';
import { failure, type Failure } from './executor.ts';
import type { RawResponse } from './model.ts';
import { topOf } from './workers.ts';

interface HeldPrompt extends Disposable {
  /** Why it is not sent: its run and the sub-runs hold too much. */
  refused: Failure | null;
}

/** A prompt, which its row keeps too, or the characters of a request, which nothing keeps. */
interface Asked {
  raw: RawResponse | null;
  sends?: number;
}

/** The prompts and requests of steps that go on, which may wait for people, or for silent servers, by the thousand. */
export interface PromptRoom {
  hold(run: ActiveRun, asked: Asked): HeldPrompt;
  /** Characters of all that are held. */
  chars(): number;
}

/** Of the prompts of one run, and the lists of its fan-outs, in characters: who reads its answers reads these too. */
const MAX_OF_RUN = 32 * 1024 * 1024;

const ALL_TOO_LARGE = failure('prompts_too_large', 'the prompts of this run take more than 32 MiB together');

const prompts = new WeakMap<ActiveRun, number>();

/** Why one more prompt, or list, of so many characters is not sent and not kept; null where it has room. */
export function refusePrompt(run: ActiveRun, chars: number): Failure | null {
  const size = (prompts.get(run) ?? 0) + chars;
  if (size > MAX_OF_RUN) return ALL_TOO_LARGE;
  prompts.set(run, size);
  return null;
}

const TOO_LARGE = failure(
  'prompts_too_large',
  'the prompts and requests of this run and its sub-runs, or of all runs of its namespace, that go on hold too much memory',
);

/** In memory: where it is asked, and in its row or its connection. */
const COPIES = 2;

/** Runs of one namespace hold as much as so many together. */
const RUNS_OF_NAMESPACE = 4;

/** `maxOfRun`: characters that one run and its sub-runs may hold. */
export function createPromptRoom(maxOfRun: number): PromptRoom {
  let all = 0;
  const held = new WeakMap<ActiveRun, number>();
  const ofNamespaces = new Map<string, number>();
  return {
    hold: (run, { raw, sends = 0 }) => {
      const top = topOf(run);
      const chars = raw === null ? 0 : JSON.stringify(raw).length;
      const size = COPIES * (chars + sends);
      const { namespace } = top;
      const own = () => held.get(top) ?? 0;
      const theirs = () => (namespace === null ? 0 : (ofNamespaces.get(namespace) ?? 0));
      const isFull = own() + size > maxOfRun || theirs() + size > RUNS_OF_NAMESPACE * maxOfRun;
      const refused = isFull ? TOO_LARGE : refusePrompt(run, chars);
      if (refused) return { refused, [Symbol.dispose]: () => undefined };
      const add = (more: number) => {
        all += more;
        held.set(top, own() + more);
        if (namespace !== null) ofNamespaces.set(namespace, theirs() + more);
      };
      add(size);
      return { refused: null, [Symbol.dispose]: () => add(-size) };
    },
    chars: () => all,
  };
}
