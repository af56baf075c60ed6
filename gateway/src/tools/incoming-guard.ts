import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { createFloodGuard, FLOOD_LIMITS } from './flood-guard.ts';

/** A request of the server costs an answer, so fewer of them are a flood. */
const REQUEST_WEIGHT = 10;
/** The SDK describes all that is wrong with a message, which takes far longer than to read it. */
const UNREADABLE_WEIGHT = 500;
/** The id of a request is sent back with its answer. */
const MAX_ID_CHARS = 200;

/** Tells answers from unrequested messages of a tool server, and limits the latter. */
export class IncomingGuard {
  /** The ids of requests that are not answered. */
  private readonly asked = new Set<unknown>();
  private highestId = -1;
  private readonly withinLimits = createFloodGuard(FLOOD_LIMITS, () => performance.now());

  /** Called with every message to the server. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if (isRequest(message)) {
      this.asked.add(message.id);
      this.highestId = Math.max(this.highestId, Number(message.id));
    } else if (message.method === 'notifications/cancelled') {
      this.asked.delete(message.params?.['requestId']);
    }
  }

  /** The request could not be sent, so no answer is expected. */
  notSent(message: JSONRPCMessage): void {
    if (isRequest(message)) this.asked.delete(message.id);
  }

  /** Whether an answer to this request is expected. */
  isAwaited(id: unknown): boolean {
    return this.asked.has(id);
  }

  /** Why the session has to end, or null. `message` is null for what is none; an answer that is awaited costs nothing. */
  problemWith(message: JSONRPCMessage | null, bytes: number): string | null {
    const answered = message === null ? null : answeredId(message);
    if (answered !== null && this.asked.delete(answered)) return null;
    if (!this.withinLimits(bytes, weightOf(message))) return 'flooded its output';
    if (message !== null && isRequest(message) && String(message.id).length > MAX_ID_CHARS)
      return `sent a request whose id has more than ${MAX_ID_CHARS} characters`;
    return answered === null || this.wasAsked(answered) ? null : 'answered a request that was never made';
  }

  /** The same after a message that the SDK could not read. */
  problemWithUnreadable(): string | null {
    return this.withinLimits(0, UNREADABLE_WEIGHT) ? null : 'sent many messages that cannot be read';
  }

  /** Request ids count up from 0, so a late answer differs from an invented one. */
  private wasAsked(id: unknown): boolean {
    return typeof id === 'number' && Number.isInteger(id) && id >= 0 && id <= this.highestId;
  }
}

const weightOf = (message: JSONRPCMessage | null): number =>
  message !== null && isRequest(message) ? REQUEST_WEIGHT : 1;

const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest => 'method' in message && 'id' in message;

function answeredId(message: JSONRPCMessage): unknown {
  return 'method' in message ? null : (message.id ?? null);
}
