import { partOf, type Share } from './share.ts';

/** How many there are, in all and of each share. */
export class Counts {
  all = 0;
  private readonly own = new Map<string, number>();

  of(key: string): number {
    return this.own.get(key) ?? 0;
  }

  /** Answers what takes it away again, to be called once. */
  add(key: string): () => void {
    this.change(key, 1);
    return () => this.change(key, -1);
  }

  private change(key: string, by: number): void {
    this.all += by;
    const left = this.of(key) + by;
    if (left > 0) this.own.set(key, left);
    else this.own.delete(key);
  }
}

/** Whether one more of a share has room among `most`, of which a tenant's has a part. */
export const hasRoom = (counts: Counts, most: number, { key, isBounded }: Share): boolean =>
  counts.all < most && !(isBounded && counts.of(key) >= partOf(most));
