const LF = 10;
const CR = 13;

/** Writes all ends of lines as LF, chunk by chunk: lines that end in CR cost the parser of an SDK the rest of the chunk, each. */
export function createLineEnds(): (chunk: Uint8Array) => Uint8Array {
  let afterCr = false;
  return (chunk) => {
    if (!afterCr && !chunk.includes(CR)) return chunk;
    const written = new Uint8Array(chunk.length);
    let length = 0;
    for (const byte of chunk) {
      if (!afterCr || byte !== LF) written[length++] = byte === CR ? LF : byte;
      afterCr = byte === CR;
    }
    return written.subarray(0, length);
  };
}
