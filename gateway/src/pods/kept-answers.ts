import { rpcError } from '@signalbox/crds';
import type { RpcReply } from '../rpc/one-frame.ts';
import { forLastAsker } from './last-asker.ts';

/** A runner has nine requests open at most. */
const MOST = 64;
const MOST_CHARS = 8 * 1024 * 1024;

const ASKED_AGAIN: RpcReply = { ok: false, error: rpcError('duplicate', 'the request was sent again') };

interface Kept {
  reply: () => Promise<RpcReply>;
  chars: number;
}

/** The last answers that the pod of a run got: a request that is repeated on a new connection gets the same answer. */
export class KeptAnswers {
  private readonly kept = new Map<number, Kept>();
  private readonly onGrow: (chars: number) => void;
  private chars = 0;

  /** `onGrow` is told how many characters more are kept, or less. */
  constructor(onGrow: (chars: number) => void) {
    this.onGrow = onGrow;
  }

  get isEmpty(): boolean {
    return this.kept.size === 0;
  }

  get(ask: number): Promise<RpcReply> | undefined {
    return this.kept.get(ask)?.reply();
  }

  add(ask: number, reply: Promise<RpcReply>): Promise<RpcReply> {
    const kept: Kept = { reply: forLastAsker(reply, ASKED_AGAIN), chars: 0 };
    this.kept.set(ask, kept);
    this.makeRoom(0);
    void reply.then(
      (answer) => this.grow(ask, kept, answer),
      () => {},
    );
    return kept.reply();
  }

  private grow(ask: number, kept: Kept, reply: RpcReply): void {
    if (this.kept.get(ask) !== kept) return;
    kept.chars = JSON.stringify(reply).length;
    this.makeRoom(kept.chars);
  }

  private makeRoom(grown: number): void {
    const before = this.chars;
    this.chars += grown;
    for (const [ask, { chars }] of this.kept) {
      if (this.kept.size <= MOST && (this.chars <= MOST_CHARS || this.kept.size === 1)) break;
      this.kept.delete(ask);
      this.chars -= chars;
    }
    this.onGrow(this.chars - before);
  }
}
