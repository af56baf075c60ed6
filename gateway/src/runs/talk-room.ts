import { getHeapStatistics } from 'node:v8';
import type { Run } from './run.ts';
import { RunAborted } from './run-outcome.ts';

/** Characters that all runs have said and heard, as far as they are in this process; one takes up to two bytes of the heap. */
const MOST_CHARS = getHeapStatistics().heap_size_limit / 8;

interface Talk {
  run: Pick<Run, 'share' | 'stop'>;
  chars: number;
}

/**
 * What runs hold together, above all those without a slot that wait for a person. Where it is too much, the run that holds
 * most of the share that holds most is stopped, so that nobody ends the runs of others.
 */
export class TalkRoom {
  private readonly most: number;
  private readonly talks = new Set<Talk>();

  constructor(most = MOST_CHARS) {
    this.most = most;
  }

  enter(run: Talk['run']): { grow: (chars: number) => void; leave: () => void } {
    const talk: Talk = { run, chars: 0 };
    this.talks.add(talk);
    return {
      grow: (chars) => {
        talk.chars += chars;
        while (sumOf(this.talks) > this.most) this.stopLargest();
      },
      leave: () => this.talks.delete(talk),
    };
  }

  private stopLargest(): void {
    const shares = Map.groupBy(this.talks, ({ run }) => run.share.key);
    const fullest = largest([...shares.values()], sumOf);
    const talk = largest(fullest ?? [], ({ chars }) => chars);
    if (!talk) return;
    this.talks.delete(talk);
    const held = `the run held the most, ${talk.chars} characters, when all held more than ${Math.floor(this.most)}`;
    talk.run.stop(new RunAborted('max_iterations', held));
  }
}

const sumOf = (talks: Iterable<Talk>): number => Iterator.from(talks).reduce((sum, { chars }) => sum + chars, 0);

const largest = <T>(of: readonly T[], size: (one: T) => number): T | undefined =>
  of.reduce<T | undefined>((most, one) => (most === undefined || size(one) > size(most) ? one : most), undefined);
