import type { ActiveRun } from './active-run.ts';
import type { DailyBytes } from './daily-bytes.ts';
import { failure, type Failure } from './executor.ts';
import type { RawResponse } from './model.ts';
import type { Shares } from './shares.ts';

interface HeldPrompt extends Disposable {
  /** Why it is not sent: its run and the sub-runs hold too much. */
  refused: Failure | null;
}

/** A prompt, which its row keeps too, or the characters of a request, of which `stores` are kept. */
interface Asked {
  raw: RawResponse | null;
  sends?: number;
  stores?: number;
}

/** The prompts and requests of steps that go on, which may wait for people, or for silent servers, by the thousand. */
export interface PromptRoom {
  hold(run: ActiveRun, asked: Asked): HeldPrompt;
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

/** `memory`: what runs hold, in which their prompts are counted, by characters. */
export function createPromptRoom(memory: Shares, dailyBytes: DailyBytes): PromptRoom {
  return {
    hold: (run, { raw, sends = 0, stores = 0 }) => {
      const chars = raw === null ? 0 : JSON.stringify(raw).length;
      const size = COPIES * (chars + sends);
      const refused = memory.fits(run, size)
        ? (refusePrompt(run, chars) ?? dailyBytes(run, chars + stores))
        : TOO_LARGE;
      if (refused) return { refused, [Symbol.dispose]: () => undefined };
      memory.add(run, size);
      return { refused: null, [Symbol.dispose]: () => memory.add(run, -size) };
    },
  };
}
