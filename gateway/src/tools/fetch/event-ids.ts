const LF = '\n'.charCodeAt(0);
const CR = '\r'.charCodeAt(0);
/** Of the line that holds it. */
export const MAX_ID_BYTES = 1024;
/** The SDK leaves out a byte order mark, also one that was encoded twice. */
const FIELD = /^\uFEFF?(?:\u00EF\u00BB\u00BF)?id: ?(.*)$/;

/** Reads the ids out of an event stream, chunk by chunk; answers with the last one so far, null while there was none. One that is too long is only told. */
export function createEventIdReader(onTooLong = () => {}): (chunk: Uint8Array) => string | null {
  let last: string | null = null;
  let line = Buffer.alloc(0);
  let tooLong = false;
  const ended = () => {
    const id = tooLong ? undefined : FIELD.exec(line.toString('utf8'))?.[1];
    if (id !== undefined) last = id;
    line = Buffer.alloc(0);
    tooLong = false;
  };
  const add = (part: Uint8Array) => {
    if (!tooLong && line.length + part.length > MAX_ID_BYTES) {
      tooLong = true;
      if (FIELD.test(Buffer.concat([line, part.subarray(0, MAX_ID_BYTES)]).toString('utf8'))) onTooLong();
    }
    if (!tooLong && part.length > 0) line = Buffer.concat([line, part]);
  };
  return (chunk) => {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (chunk[at] !== LF && chunk[at] !== CR) continue;
      add(chunk.subarray(start, at));
      ended();
      start = at + 1;
    }
    add(chunk.subarray(start));
    return last;
  };
}
