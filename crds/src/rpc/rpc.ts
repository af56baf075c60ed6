import { z } from 'zod';
import { depthOf } from '../json-depth.ts';

/** Frames between clients and a gateway or any other agent backend. */
export const MAX_FRAME_BYTES = 1024 * 1024;
/** Counted before a frame is parsed, which alone may take a second. */
export const MAX_FRAME_VALUES = 50_000;

/** JSON-RPC error codes of `/rpc`; `retryable` tells a client whether the same call may succeed later. */
export const RPC_ERRORS = {
  parse_error: { code: -32700, retryable: false },
  invalid_request: { code: -32600, retryable: false },
  method_not_found: { code: -32601, retryable: false },
  invalid_params: { code: -32602, retryable: false },
  internal: { code: -32603, retryable: true },
  unauthorized: { code: -32001, retryable: false },
  forbidden: { code: -32003, retryable: false },
  not_found: { code: -32004, retryable: false },
  duplicate: { code: -32009, retryable: false },
  at_capacity: { code: -32010, retryable: true },
  timeout: { code: -32011, retryable: true },
  cancelled: { code: -32012, retryable: false },
  provider_error: { code: -32013, retryable: true },
  max_iterations: { code: -32014, retryable: false },
  output_invalid: { code: -32015, retryable: false },
  tool_unavailable: { code: -32016, retryable: true },
} as const;
export type RpcErrorType = keyof typeof RPC_ERRORS;

export const RpcId = z.union([z.string().max(200), z.number().int()]);
export type RpcId = z.infer<typeof RpcId>;

export const RpcErrorData = z.looseObject({
  type: z.string(),
  retryable: z.boolean(),
  retry_after_ms: z.number().int().nonnegative().optional(),
});
export type RpcErrorData = z.infer<typeof RpcErrorData>;

/** Libraries put anything into `data`; unknown data is dropped instead of the whole answer. */
export const RpcError = z.object({
  code: z.number().int(),
  message: z.string(),
  data: RpcErrorData.optional().catch(undefined),
});
export type RpcError = z.infer<typeof RpcError>;

/** A request, or a notification when it has no `id`. */
export const RpcRequest = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId.optional(),
  method: z.string().min(1).max(100),
  params: z.unknown().optional(),
});
export type RpcRequest = z.infer<typeof RpcRequest>;

export const RpcResponse = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: RpcId.nullable(),
    result: z.unknown().optional(),
    error: RpcError.optional(),
  })
  .refine(
    (response) => (response.result === undefined) !== (response.error === undefined),
    'needs either a result or an error',
  );
export type RpcResponse = z.infer<typeof RpcResponse>;

/** Builds the error object of a response from the table above. */
export function rpcError(
  type: RpcErrorType,
  message: string,
  extra: { retry_after_ms?: number; [key: string]: unknown } = {},
): RpcError {
  const { code, retryable } = RPC_ERRORS[type];
  return { code, message, data: { ...extra, type, retryable } };
}

export type DecodedFrame =
  /** `depth`: the levels of the frame. */
  | { ok: true; kind: 'request'; message: RpcRequest; depth: number }
  | { ok: true; kind: 'response'; message: RpcResponse }
  | { ok: false; id: RpcId | null; error: RpcError };

/** Counts only where the length in characters leaves a doubt. */
export const fitsFrame = (text: string, maxBytes: number = MAX_FRAME_BYTES): boolean =>
  text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes;

/** One text frame as a message, or the error to answer with. Batches are refused. Never throws. */
export function decodeFrame(frame: string, maxBytes: number = MAX_FRAME_BYTES): DecodedFrame {
  if (!fitsFrame(frame, maxBytes))
    return { ok: false, id: null, error: rpcError('invalid_request', `a frame holds at most ${maxBytes} bytes`) };
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return { ok: false, id: null, error: rpcError('parse_error', 'the frame is not JSON') };
  }
  return decodeMessage(value);
}

/** Of a frame; what is deeper is parsed without recursion, and nothing else is done with it. */
const MAX_DEPTH = 200;
const TOO_DEEP = `the message nests deeper than ${MAX_DEPTH} levels`;

const NO_BATCH = 'batches are not taken: send one message a frame';

function decodeMessage(value: unknown): DecodedFrame {
  const fields = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
  const depth = depthOf(value, MAX_DEPTH);
  if (depth > MAX_DEPTH) return tooDeep(fields);
  if ('method' in fields) {
    const request = requestOf(fields);
    if (request) return { ok: true, kind: 'request', message: request, depth };
  } else {
    const response = RpcResponse.safeParse(value);
    if (response.success) return { ok: true, kind: 'response', message: response.data };
  }
  return {
    ok: false,
    id: idOf(fields),
    error: rpcError('invalid_request', Array.isArray(value) ? NO_BATCH : 'the frame is no JSON-RPC 2.0 message'),
  };
}

type Fields = Record<string, unknown>;

const idOf = ({ id }: Fields): RpcId | null => RpcId.safeParse(id).data ?? null;

/** Who waits for the answer hears that it is of no use. */
function tooDeep(fields: Fields): DecodedFrame {
  const id = idOf(fields);
  if ('method' in fields || id === null) return { ok: false, id, error: rpcError('invalid_request', TOO_DEEP) };
  return {
    ok: true,
    kind: 'response',
    message: { jsonrpc: '2.0', id, error: rpcError('output_invalid', TOO_DEEP) },
  };
}

/** `RpcRequest.safeParse` by hand, for every frame of a busy connection comes through here; a test holds the two together. */
function requestOf({ jsonrpc, id, method, params }: Fields): RpcRequest | null {
  if (jsonrpc !== '2.0' || typeof method !== 'string' || method === '' || method.length > 100) return null;
  if (id === undefined) return { jsonrpc, method, params };
  if (typeof id === 'string' ? id.length > 200 : !Number.isSafeInteger(id)) return null;
  return { jsonrpc, id: id as RpcId, method, params };
}
