import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

/** The transport, so that the SDK's client keeps nothing of what a server sends beyond the request that it answers. To be called before the client connects. */
export function withoutLeaks(transport: Transport): Transport {
  // The client calls it before it reads the message itself. Of tasks, which it is never asked for, it would remember each.
  transport.onmessage = (message) => {
    if ('result' in message) delete message.result['task'];
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    try {
      await send(message, options);
    } catch (error) {
      // The client has the error first; by an answer it forgets the request, and the error with it.
      if ('method' in message) setImmediate(() => transport.onmessage?.(noAnswer(message)));
      throw error;
    }
  };
  return transport;
}

function noAnswer(message: JSONRPCMessage): JSONRPCMessage {
  const error = { code: ErrorCode.ConnectionClosed, message: 'not sent' };
  return { jsonrpc: '2.0', id: 'id' in message ? message.id : undefined, error };
}
