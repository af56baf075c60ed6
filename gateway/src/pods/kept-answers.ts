import type { RpcReply } from '../rpc/one-frame.ts';

/** A runner has nine requests open at most. */
const MOST = 64;
const MOST_CHARS = 8 * 1024 * 1024;

interface Kept {
  reply: Promise<RpcReply>;
  chars: number;
}

/** The last answers that the pod of a run got: a request that is repeated on a new connection gets the same answer. */
export class KeptAnswers {
  private readonly kept = new Map<number, Kept>();
  private chars = 0;

  get isEmpty(): boolean {
    return this.kept.size === 0;
  }

  get(ask: number): Promise<RpcReply> | undefined {
    return this.kept.get(ask)?.reply;
  }

  add(ask: number, reply: Promise<RpcReply>): void {
    const kept: Kept = { reply, chars: 0 };
    this.kept.set(ask, kept);
    this.makeRoom();
    void reply.then(
      (answer) => this.grow(ask, kept, answer),
      () => {},
    );
  }

  private grow(ask: number, kept: Kept, reply: RpcReply): void {
    if (this.kept.get(ask) !== kept) return;
    kept.chars = JSON.stringify(reply).length;
    this.chars += kept.chars;
    this.makeRoom();
  }

  private makeRoom(): void {
    for (const [ask, { chars }] of this.kept) {
      if (this.kept.size <= MOST && (this.chars <= MOST_CHARS || this.kept.size === 1)) return;
      this.kept.delete(ask);
      this.chars -= chars;
    }
  }
}
