import { type RpcError, rpcError, type RpcId, valuesIn } from '@signalbox/crds';

/** `json` is an encoded result, or error. */
export type RpcReply = { ok: true; result: unknown } | EncodedReply | { ok: false; error: RpcError };

/** A reply at once, or one at the end of a run; `held`: until when the run keeps what the request said, null where it does not. */
export type RpcAnswer = RpcReply | { later: Promise<EncodedReply>; held: Promise<unknown> | null };

export interface FrameLimits {
  maxFrameBytes: number;
  /** Both ways, counted before a frame is parsed: that alone may take a second. */
  maxFrameValues: number;
}

interface EncodedReply {
  ok: boolean;
  json: string;
}

function encoded(reply: RpcReply): EncodedReply {
  if ('json' in reply) return reply;
  return { ok: reply.ok, json: JSON.stringify(reply.ok ? reply.result : reply.error) };
}

/** A reply that fits a frame: the trace of a larger one is left out first. */
export function encodeReply(id: RpcId, reply: RpcReply, limits: FrameLimits): string {
  const whole = encoded(reply);
  const { ok, json } = whole;
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"${ok ? 'result' : 'error'}":`;
  if (isOneReply(head, whole, limits)) return `${head}${json}}`;
  const cut = JSON.stringify({ jsonrpc: '2.0', id, ...withoutTrace(ok, json) });
  if (isOneFrame(cut, limits)) return cut;
  return JSON.stringify({ jsonrpc: '2.0', id, error: rpcError('output_invalid', `the answer ${unfit(limits)}`) });
}

/** Measures an answer only where its length leaves a doubt, and once: many may wait for it. */
const sizes = new WeakMap<EncodedReply, { bytes: number; values: number }>();

function isOneReply(head: string, reply: EncodedReply, { maxFrameBytes, maxFrameValues }: FrameLimits): boolean {
  const { json } = reply;
  const chars = head.length + json.length + 1;
  if (chars * 3 <= maxFrameBytes && chars <= maxFrameValues) return true;
  const size = sizes.get(reply) ?? { bytes: Buffer.byteLength(json), values: valuesIn(json) };
  sizes.set(reply, size);
  return Buffer.byteLength(head) + size.bytes < maxFrameBytes && valuesIn(head) + size.values <= maxFrameValues;
}

function withoutTrace(ok: boolean, json: string) {
  const cut = { trace: [], trace_cut: true };
  if (ok) return { result: { ...(JSON.parse(json) as object), ...cut } };
  const error = JSON.parse(json) as RpcError;
  return { error: { ...error, data: { ...error.data, ...cut } } };
}

/** Counts only where the length in characters leaves a doubt. */
export function isOneFrame(text: string, limits: FrameLimits): boolean {
  const { maxFrameBytes } = limits;
  const fits = text.length * 3 <= maxFrameBytes || Buffer.byteLength(text) <= maxFrameBytes;
  return fits && !holdsTooMany(text, limits);
}

export function holdsTooMany(text: string, { maxFrameValues }: FrameLimits): boolean {
  return text.length > maxFrameValues && valuesIn(text) > maxFrameValues;
}

export function unfit({ maxFrameBytes, maxFrameValues }: FrameLimits): string {
  return `does not fit a frame of ${maxFrameBytes} bytes and ${maxFrameValues} values`;
}
