import type { ActiveRun } from './active-run.ts';
import type { DailyBytes } from './daily-bytes.ts';
import { failure, type Failure } from './executor.ts';
import type { RawResponse } from './model.ts';
import type { Shares } from './shares.ts';
import { sizeOfValues } from './size-of-values.ts';
import { takeWorkers, topOf, type Workers } from './workers.ts';

interface HeldPrompt extends Disposable {
  /** Why it is not sent: its run and the sub-runs hold too much. */
  refused: Failure | null;
}

/** A prompt, or the list of a fan-out, which its row keeps too, or the characters of a request, of which `stores` are kept. */
interface Asked {
  raw: RawResponse | null;
  sends?: number;
  stores?: number;
  /** It began before a restart, and what it holds counts whether it has room or not. */
  goesOn?: boolean;
}

/** The prompts, lists and requests of steps that go on, which may wait for people, or for silent servers, by the thousand. */
export interface PromptRoom {
  hold(run: ActiveRun, asked: Asked): HeldPrompt;
  /** Workers for a group of branches, which count until they leave: one at least, and more where a further run has room beside them. */
  takeWorkers(run: ActiveRun, wanted: number): Workers;
  /** Counts the list that a run goes on with, until it ends; false, and it counts nothing, where that has no room. */
  restore(run: ActiveRun): boolean;
  /** Once a run has ended. */
  drop(run: ActiveRun): void;
}

/** Of the prompts of one run, and the lists of its fan-outs, in characters: who reads its answers reads these too. */
const MAX_OF_RUN = 32 * 1024 * 1024;

const ALL_TOO_LARGE = failure('prompts_too_large', 'the prompts of this run take more than 32 MiB together');

const prompts = new WeakMap<ActiveRun, number>();

/** Why one more prompt, or list, of so many characters is not sent and not kept; null where it has room. */
function refusePrompt(run: ActiveRun, chars: number): Failure | null {
  const size = (prompts.get(run) ?? 0) + chars;
  if (size > MAX_OF_RUN) return ALL_TOO_LARGE;
  prompts.set(run, size);
  return null;
}

const TOO_LARGE = failure(
  'prompts_too_large',
  'the prompts, lists and requests of this run and its sub-runs, or of all runs of its namespace, that go on hold too much memory',
);

/** In memory: where it is asked, and in its row or its connection. */
const COPIES = 2;

/** Of a branch that goes on beside its prompt: its row, its question or call, its lines in the log. */
const BRANCH_BYTES = 12 * 1024;

/** Characters of what a row keeps, and what they take in memory: lists are held as they were read. */
function sizeOf(raw: RawResponse | null): { chars: number; size: number } {
  if (raw === null) return { chars: 0, size: 0 };
  const json = JSON.stringify(raw);
  const lists = sizeOfList(raw.items, json) + sizeOfList(raw.promptSpans);
  return { chars: json.length, size: json.length + lists };
}

const sizeOfList = (list: unknown, json?: string): number => (list ? sizeOfValues(list, json) : 0);

const listOf = ({ inFlight }: ActiveRun): RawResponse | null =>
  [...inFlight.values()].find(({ rawResponse }) => rawResponse?.items)?.rawResponse ?? null;

/** `memory`: what runs hold, in which their prompts are counted, by characters. */
export function createPromptRoom(memory: Shares, dailyBytes: DailyBytes): PromptRoom {
  const restored = new WeakMap<ActiveRun, number>();
  return {
    hold: (run, { raw, sends = 0, stores = 0, goesOn = false }) => {
      const { chars, size: takes } = sizeOf(raw);
      const size = COPIES * (takes + sends);
      const refused = memory.fits(run, size)
        ? (refusePrompt(run, chars) ?? dailyBytes(run, chars + stores))
        : TOO_LARGE;
      if (refused && !goesOn) return { refused, [Symbol.dispose]: () => undefined };
      memory.add(run, size);
      return { refused: null, [Symbol.dispose]: () => memory.add(run, -size) };
    },
    takeWorkers: (run, wanted) => {
      const { namespace } = topOf(run);
      const hasRoom = (size: number) => memory.fits(run, size) && !memory.isFull(namespace, { all: size, own: size });
      let most = wanted;
      while (most > 1 && !hasRoom(most * BRANCH_BYTES)) most -= 1;
      const { count, leave } = takeWorkers(run, most);
      memory.add(run, count * BRANCH_BYTES);
      return {
        count,
        leave: () => {
          memory.add(run, -BRANCH_BYTES);
          leave();
        },
      };
    },
    restore: (run) => {
      const { chars, size } = sizeOf(listOf(run));
      if (size > 0 && (!memory.fits(run, COPIES * size) || refusePrompt(run, chars))) return false;
      memory.add(run, COPIES * size);
      restored.set(run, COPIES * size);
      return true;
    },
    drop: (run) => {
      memory.add(run, -(restored.get(run) ?? 0));
      restored.delete(run);
    },
  };
}
