import { holdsMore } from '@signalbox/crds';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { createFloodGuard, FLOOD_LIMITS } from './flood-guard.ts';

/** A request of the server costs an answer, so fewer of them are a flood. */
const REQUEST_WEIGHT = 10;
/** Of a message that the MCP client reads by a schema: where none fits, each value is a problem to describe. Results of calls are read without. */
const MAX_VALUES = 50_000;

/** Tells answers from unrequested messages of a tool server, and limits the latter. */
export class IncomingGuard {
  /** The methods of requests that are not answered, by their ids. */
  private readonly asked = new Map<unknown, string>();
  private highestId = -1;
  private readonly withinLimits = createFloodGuard(FLOOD_LIMITS, () => performance.now());

  /** Called with every message to the server. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) {
      this.asked.set(message.id, message.method);
      this.highestId = Math.max(this.highestId, Number(message.id));
    } else if (message.method === 'notifications/cancelled') {
      this.asked.delete(message.params?.['requestId']);
    }
  }

  /** The request could not be sent, so no answer is expected. */
  notSent(message: JSONRPCMessage): void {
    if ('id' in message) this.asked.delete(message.id);
  }

  /** Whether an answer to this request is expected. */
  isAwaited(id: unknown): boolean {
    return this.asked.has(id);
  }

  /** Why the session has to end, or null. `message` is null for what is none; an answer that is awaited costs nothing. */
  problemWith(message: JSONRPCMessage | null, bytes: number): string | null {
    const answered = message === null ? null : answeredId(message);
    if (this.asked.get(answered) !== 'tools/call' && holdsMore(message, MAX_VALUES))
      return `sent a message of more than ${MAX_VALUES} values`;
    if (answered !== null && this.asked.delete(answered)) return null;
    if (!this.withinLimits(bytes, weightOf(message))) return 'flooded its output';
    return answered === null || this.wasAsked(answered) ? null : 'answered a request that was never made';
  }

  /** Request ids count up from 0, so a late answer differs from an invented one. */
  private wasAsked(id: unknown): boolean {
    return typeof id === 'number' && Number.isInteger(id) && id >= 0 && id <= this.highestId;
  }
}

const weightOf = (message: JSONRPCMessage | null): number =>
  message !== null && 'method' in message && 'id' in message ? REQUEST_WEIGHT : 1;

function answeredId(message: JSONRPCMessage): unknown {
  return 'method' in message ? null : (message.id ?? null);
}
