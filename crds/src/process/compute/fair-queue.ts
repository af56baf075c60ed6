/** Whom a task is for. */
export interface Owner {
  /** Its run, which two tasks that ended their thread bar; null where there is none to bar. */
  run: string | null;
  /** Who shares a turn: a pipeline in the api-server, in the gateway those whose runs share slots. */
  share: string;
  /** Whose turns it has a part of; absent for those of the group that the share belongs to now. */
  group?: string;
}

export interface QueueLimits {
  maxWaiting: number;
  maxPerShare: number;
  /** Shares of one group, such as the pipelines of a namespace, share the turns of the group. */
  groupOf: (share: string) => string;
}

interface Owned {
  owner: Owner;
}

/** Groups and shares whose last turn is remembered. */
const MAX_REMEMBERED = 10_000;

/**
 * A bounded queue in which shares take turns, so that many entries of one share delay an entry of another by one turn. Where the queue
 * is full, the newest entry of the share with the most gives way.
 */
export class FairQueue<T extends Owned> {
  private readonly limits: QueueLimits;
  private readonly entries: T[] = [];
  private readonly lastTurns = new Map<string, number>();
  private turn = 0;

  constructor(limits: QueueLimits) {
    this.limits = limits;
  }

  /** Adds an entry; answers the one that gives way for it, which may be itself. */
  add(entry: T): T | null {
    this.entries.push(entry);
    const { share } = entry.owner;
    const ofShare = this.entries.filter(({ owner }) => owner.share === share).length;
    if (ofShare > this.limits.maxPerShare) return this.remove(this.entries.length - 1);
    return this.entries.length > this.limits.maxWaiting ? this.remove(this.mostCrowded()) : null;
  }

  /** The next entry that is ready, of the share whose last turn is the longest ago. */
  take(isReady: (entry: T) => boolean): T | null {
    let best: { at: number; rank: readonly number[] } | null = null;
    for (const [at, entry] of this.entries.entries()) {
      if (!isReady(entry)) continue;
      const rank = this.keysOf(entry).map((key) => this.lastTurns.get(key) ?? 0);
      if (!best || compare(rank, best.rank) < 0) best = { at, rank };
    }
    if (!best) return null;
    const taken = this.remove(best.at);
    for (const key of this.keysOf(taken)) this.noteTurn(key);
    return taken;
  }

  /** Removes and answers what fits. */
  drain(fits: (entry: T) => boolean = () => true): T[] {
    const drained = this.entries.filter(fits);
    const left = this.entries.filter((entry) => !fits(entry));
    this.entries.splice(0, this.entries.length, ...left);
    return drained;
  }

  private keysOf({ owner: { share, group = this.limits.groupOf(share) } }: T): [string, string] {
    return [`group ${group}`, `share ${share}`];
  }

  private noteTurn(key: string): void {
    this.turn += 1;
    this.lastTurns.delete(key);
    this.lastTurns.set(key, this.turn);
    if (this.lastTurns.size > MAX_REMEMBERED) this.lastTurns.delete(this.lastTurns.keys().next().value as string);
  }

  private mostCrowded(): number {
    const counts = new Map<string, number>();
    for (const key of this.entries.flatMap((entry) => this.keysOf(entry))) counts.set(key, (counts.get(key) ?? 0) + 1);
    const ranks = this.entries.map((entry) => this.keysOf(entry).map((key) => counts.get(key) ?? 0));
    return ranks.reduce((most, rank, at) => (compare(rank, ranks[most] ?? []) >= 0 ? at : most), 0);
  }

  private remove(at: number): T {
    return this.entries.splice(at, 1)[0] as T;
  }
}

const compare = ([group = 0, share = 0]: readonly number[], [otherGroup = 0, otherShare = 0]: readonly number[]) =>
  group - otherGroup || share - otherShare;
