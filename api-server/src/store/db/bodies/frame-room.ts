/** Size of the field that says how long the content of a zstd frame is (RFC 8878), by the first two bits of the frame's flags. */
const FIELD_BYTES = [1, 2, 4] as const;
const SINGLE_SEGMENT = 0x20;
const [LEAST, MOST] = [64, 16 * 1024 * 1024];

/**
 * Bytes of the buffer into which a whole frame fits: with it zstd needs no buffer of its own, and nothing is put together from
 * pieces. Undefined where the frame does not say it, or says more than any body has.
 */
export function frameRoom(frame: Uint8Array): number | undefined {
  const flags = frame[4] ?? 0;
  const bytes = FIELD_BYTES[flags >> 6];
  const single = (flags & SINGLE_SEGMENT) !== 0;
  // A byte for the window comes before it, except in a single segment, which alone has the short field.
  const at = single ? 5 : 6;
  if (bytes === undefined || (bytes === 1 && !single) || frame.length < at + bytes) return undefined;
  const field = Buffer.from(frame.buffer, frame.byteOffset, frame.length).readUIntLE(at, bytes);
  const size = bytes === 2 ? field + 256 : field;
  // Full to the last byte, it would make zlib ask for another one.
  return size < MOST ? Math.max(size + 1, LEAST) : undefined;
}
