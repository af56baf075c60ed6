import { createRest } from '@signalbox/crds/process/rest';
import type { RpcSocket } from './rpc-socket.ts';

type Connection = Pick<RpcSocket, 'send' | 'isFull' | 'drained'>;

/**
 * The calls that are not yet written on one connection. Written all at once, those of a lost connection would hold the event loop
 * for seconds, and stay in memory until the backend reads them.
 */
export class RpcOutbox {
  #connection: Connection;
  #frameOf: (id: number) => string | null;
  #waiting = new Set<number>();
  #writing = false;

  /** `frameOf` makes the frame of a call, null where it is no longer to be sent. */
  constructor(connection: Connection, frameOf: (id: number) => string | null) {
    this.#connection = connection;
    this.#frameOf = frameOf;
  }

  /** Writes the frame of a call at once where none waits before it and the connection has room. */
  send(id: number, frame: string): void {
    if (this.#writing || this.#connection.isFull()) this.sendLater([id]);
    else this.#connection.send(frame);
  }

  sendLater(ids: Iterable<number>): void {
    for (const id of ids) this.#waiting.add(id);
    if (!this.#writing) void this.#write();
  }

  /** Nothing more is written. */
  close(): void {
    this.#waiting.clear();
  }

  async #write(): Promise<void> {
    this.#writing = true;
    const rest = createRest();
    // A set also gives what is added meanwhile.
    for (const id of this.#waiting) {
      await (this.#connection.isFull() ? this.#connection.drained() : rest());
      const frame = this.#waiting.delete(id) ? this.#frameOf(id) : null;
      if (frame !== null) this.#connection.send(frame);
    }
    this.#writing = false;
  }
}
