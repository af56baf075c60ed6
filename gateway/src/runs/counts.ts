import { partOf, type Share } from './share.ts';

/** How many there are, in all and of each share. */
export class Counts<Key = string> {
  all = 0;
  private readonly own = new Map<Key, number>();

  of(key: Key): number {
    return this.own.get(key) ?? 0;
  }

  /** Answers what takes it away again, to be called once. */
  add(key: Key, by = 1): () => void {
    this.change(key, by);
    return () => this.change(key, -by);
  }

  private change(key: Key, by: number): void {
    this.all += by;
    const left = this.of(key) + by;
    if (left > 0) this.own.set(key, left);
    else this.own.delete(key);
  }
}

/** Whether one more of a share has room among `most`, of which a tenant's has a part. */
export const hasRoom = (counts: Counts, most: number, { key, isBounded }: Share): boolean =>
  counts.all < most && !(isBounded && counts.of(key) >= partOf(most));
