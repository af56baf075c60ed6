import { createUnfinished } from '@signalbox/crds/process/unfinished';
import { BrokenAnswer } from './failure.ts';

const MIB = 1024 * 1024;
/**
 * Of all requests of one call whose answer is read as a whole, as long as it may be. A model says 128,000 tokens at most: 1 MiB of
 * text, or a signature and thoughts of that size beside it. Where each sign is escaped, this is six times as much.
 */
const MAX_WHOLE_BYTES = 8 * MIB;
/** The same, streamed: most of it is what an event has around a few signs. */
const MAX_STREAMED_BYTES = 32 * MIB;
/** Of all calls together, what is in memory at least until they end. An SDK has up to ten times as much while it reads it. */
const MAX_HELD_BYTES = 32 * MIB;
/** Of all calls together until they end, whatever of it is kept: some SDKs keep to themselves what they cannot tell yet, as text of two bytes a sign. */
const MAX_RECEIVED_BYTES = 96 * MIB;
/** What a piece of a streamed text takes beside its signs. */
const PIECE_BYTES = 32;

const NO_ROOM =
  'the answers of all models have no room in memory, and this one takes most; let fewer runs go on at once';

/** The answer to one call of a model, from its first request until it is read. */
export class AnswerRoom {
  /** Whether a request was written: of no other call can the provider know. */
  isSent = false;
  failure: BrokenAnswer | null = null;
  readonly isStreamed: boolean;
  private received = 0;
  private isOver = false;
  private maxBytes = 0;
  private stop: (failure: Error) => void = () => {};

  constructor(isStreamed: boolean) {
    this.isStreamed = isStreamed;
  }

  /** A body begins, which is read as a whole or as a stream; `stop` fails it. */
  begin(isStream: boolean, stop: (failure: Error) => void): void {
    this.maxBytes = isStream ? MAX_STREAMED_BYTES : MAX_WHOLE_BYTES;
    this.stop = stop;
  }

  receive(bytes: number): void {
    this.received += bytes;
    if (this.isCounted()) arrived.add(this, bytes);
    if (this.received <= this.maxBytes) return;
    this.fail(`the provider sent more than ${this.maxBytes} bytes for one answer; ask for a shorter one`, false);
  }

  /** Takes room until the call ends; less than none where some is free again. */
  hold(bytes: number): void {
    if (this.isCounted()) room.add(this, bytes);
  }

  private isCounted(): boolean {
    return !this.isOver && this.failure === null;
  }

  /** Of a streamed text, in UTF-16. */
  keep(piece: string): void {
    this.hold(2 * piece.length + PIECE_BYTES);
  }

  fail(message: string, retryable: boolean): void {
    this.failure ??= new BrokenAnswer(message, retryable);
    this.stop(this.failure);
  }

  end(): void {
    this.isOver = true;
    room.done(this)();
    arrived.done(this)();
  }
}

/** Those that take most fail, so that nobody else is the victim of a provider that sends much. */
const allOf = (most: number) => createUnfinished<AnswerRoom>((answer) => answer.fail(NO_ROOM, true), most, 'largest');
const [room, arrived] = [allOf(MAX_HELD_BYTES), allOf(MAX_RECEIVED_BYTES)];
const rooms = new WeakMap<AbortSignal, AnswerRoom>();

/** For what is asked with this signal. */
export function openRoom(signal: AbortSignal, isStreamed: boolean): AnswerRoom {
  const opened = new AnswerRoom(isStreamed);
  rooms.set(signal, opened);
  return opened;
}

export const roomOf = (signal: AbortSignal | null | undefined): AnswerRoom | undefined =>
  signal ? rooms.get(signal) : undefined;
