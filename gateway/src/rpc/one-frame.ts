import { type RpcError, rpcError, type RpcId, type TraceEntry, valuesIn } from '@signalbox/crds';
import { bareEntry } from '../runs/trace.ts';

/** `json` is an encoded result, or error. */
export type RpcReply = { ok: true; result: unknown } | EncodedReply | { ok: false; error: RpcError };

/** A reply at once, or one at the end of a run; `held`: until when the run keeps what the request said, null where it does not. */
export type RpcAnswer = RpcReply | { later: Promise<EncodedReply>; held: Promise<unknown> | null };

export interface FrameLimits {
  maxFrameBytes: number;
  /** Both ways, counted before a frame is parsed: that alone may take a second. */
  maxFrameValues: number;
  /** Whether names count as values in what is sent; in what is read they do: one that is new takes as long as many of those. */
  countsNames?: boolean;
}

interface EncodedReply {
  ok: boolean;
  json: string;
}

function encoded(reply: RpcReply): EncodedReply {
  if ('json' in reply) return reply;
  return { ok: reply.ok, json: JSON.stringify(reply.ok ? reply.result : reply.error) };
}

/** A reply that fits a frame: the inputs and results in the trace of a larger one are left out first, then its answer. */
export function encodeReply(id: RpcId, reply: RpcReply, limits: FrameLimits): string {
  const headOf = ({ ok }: EncodedReply) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"${ok ? 'result' : 'error'}":`;
  const fits = (one: EncodedReply) => isOneReply(headOf(one), one, limits);
  const whole = encoded(reply);
  const sent = fits(whole) ? whole : shortened(whole, fits, `the answer ${unfit(limits)}`);
  return `${headOf(sent)}${sent.json}}`;
}

/** What was sent in the place of an answer, which is made once: many may wait for it. */
const short = new WeakMap<EncodedReply, EncodedReply>();

function shortened(whole: EncodedReply, fits: (one: EncodedReply) => boolean, message: string): EncodedReply {
  const known = short.get(whole);
  if (known && fits(known)) return known;
  let last = whole;
  for (const { ok, said } of shorter(whole, message)) {
    last = { ok, json: JSON.stringify(said) };
    if (fits(last)) break;
  }
  short.set(whole, last);
  return last;
}

/** Measures an answer only where its length leaves a doubt, and once: many may wait for it. */
const sizes = new WeakMap<EncodedReply, { bytes: number; values: number }>();

function isOneReply(
  head: string,
  reply: EncodedReply,
  { maxFrameBytes, maxFrameValues, countsNames }: FrameLimits,
): boolean {
  const { json } = reply;
  const chars = head.length + json.length + 1;
  if (chars * 3 <= maxFrameBytes && chars <= maxFrameValues) return true;
  const size = sizes.get(reply) ?? { bytes: Buffer.byteLength(json), values: valuesIn(json, countsNames) };
  sizes.set(reply, size);
  return (
    Buffer.byteLength(head) + size.bytes < maxFrameBytes && valuesIn(head, countsNames) + size.values <= maxFrameValues
  );
}

interface Said {
  trace?: TraceEntry[];
  [field: string]: unknown;
}

/** What stands in the place of a reply, the longest first: without its inputs and results, what was used and done, that it does not fit. */
function* shorter({ ok, json }: EncodedReply, message: string): Generator<{ ok: boolean; said: object }> {
  const whole = JSON.parse(json) as Said & RpcError;
  const bare = withBareTrace(ok ? whole : { ...whole.data });
  yield { ok, said: ok ? bare : { ...whole, data: bare } };
  const { text: _, output: __, status: ___, stop_reason: ____, ...spent } = bare;
  yield { ok: false, said: rpcError('output_invalid', message, spent) };
  yield { ok: false, said: rpcError('output_invalid', message) };
}

const withBareTrace = ({ trace, ...said }: Said): Said =>
  trace ? { ...said, trace: trace.map(bareEntry), trace_cut: true } : said;

/** Counts only where the length in characters leaves a doubt. */
export function isOneFrame(text: string, limits: FrameLimits): boolean {
  const { maxFrameBytes } = limits;
  const fits = text.length * 3 <= maxFrameBytes || Buffer.byteLength(text) <= maxFrameBytes;
  return fits && !holdsTooMany(text, limits);
}

export function holdsTooMany(
  text: string,
  { maxFrameValues, countsNames }: Omit<FrameLimits, 'maxFrameBytes'>,
): boolean {
  return text.length > maxFrameValues && valuesIn(text, countsNames) > maxFrameValues;
}

export function unfit({ maxFrameBytes, maxFrameValues }: FrameLimits): string {
  return `does not fit a frame of ${maxFrameBytes} bytes and ${maxFrameValues} values`;
}
