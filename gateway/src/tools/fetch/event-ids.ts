const LF = '\n'.charCodeAt(0);
const CR = '\r'.charCodeAt(0);
const MAX_ID_BYTES = 1024;
const FIELD = /^id: ?(.*)$/;

/** Reads the ids out of an event stream, chunk by chunk; answers with the last one so far, null while there was none. */
export function createEventIdReader(): (chunk: Uint8Array) => string | null {
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
    tooLong ||= line.length + part.length > MAX_ID_BYTES;
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
