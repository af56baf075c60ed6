const LF = '\n'.charCodeAt(0);
const CR = '\r'.charCodeAt(0);
/** Of each line: the parser of the client takes the rest of a chunk for each that ends in CR. */
const END = Buffer.from('\n');
/** Of the line that holds it. */
export const MAX_ID_BYTES = 1024;
/** Longer than any call takes, and a client that is gone keeps its timers no longer. */
const MAX_RETRY_MS = 300_000;
/** The SDK leaves out a byte order mark, also one that was encoded twice. */
const FIELD = /^(?:\u00EF\u00BB\u00BF)?(?:\u00C3\u00AF\u00C2\u00BB\u00C2\u00BF)?(id|retry): ?(.*)$/s;
const FIELD_STARTS = new Set(['i', 'r', '\u00EF', '\u00C3'].map((char) => char.charCodeAt(0)));
/** In the place of a line. */
const COMMENT = ':';

export interface EventIdDeps {
  /** Called with the last id, a character for each byte, where a blank line ends an event; what it returns is put behind that. */
  onId: (id: string) => string;
  /** An id, or a time to wait. */
  onTooLong: () => void;
}

/** Takes the ids out of an event stream, chunk by chunk, writes all ends of lines as one, and shortens the time that the client is asked to wait. */
export function createEventIds({ onId, onTooLong }: EventIdDeps): (chunk: Uint8Array) => Uint8Array {
  let id = '';
  /** What there is of a line that may hold one of these fields; null where it holds none, or nothing yet. */
  let held: Buffer | null = null;
  let lineIsEmpty = true;
  let before = 0;
  let out: Uint8Array[] = [];

  const release = (line: Buffer) => {
    const [, field, value = ''] = FIELD.exec(line.toString('latin1')) ?? [];
    if (field === undefined) return out.push(line);
    if (field === 'id' && value !== '' && !value.includes('\0')) id = value;
    const isTime = field === 'retry' && /^\d+$/.test(value);
    out.push(Buffer.from(isTime ? `retry:${Math.min(Number(value), MAX_RETRY_MS)}` : COMMENT));
  };
  const add = (part: Uint8Array) => {
    if (part.length === 0) return;
    if (lineIsEmpty && FIELD_STARTS.has(part[0] ?? 0)) held = Buffer.alloc(0);
    lineIsEmpty = false;
    if (held === null) return out.push(part);
    held = Buffer.concat([held, part.subarray(0, MAX_ID_BYTES + 1)]);
    if (held.length <= MAX_ID_BYTES) return;
    if (FIELD.test(held.toString('latin1'))) onTooLong();
    else out.push(held, part.subarray(MAX_ID_BYTES + 1));
    held = null;
  };
  const endLine = () => {
    const isBlank = lineIsEmpty;
    if (held !== null) release(held);
    [held, lineIsEmpty] = [null, true];
    return isBlank;
  };
  const readEnd = (byte: number) => {
    // What is left of an end that was written as one.
    if (byte === LF && before === CR) return;
    const isBlank = endLine();
    out.push(END);
    if (isBlank && id !== '') {
      out.push(Buffer.from(onId(id)));
      id = '';
    }
  };
  return (chunk) => {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === LF || byte === CR) {
        add(chunk.subarray(start, at));
        readEnd(byte);
        start = at + 1;
      }
      before = byte;
    }
    add(chunk.subarray(start));
    const passed = Buffer.concat(out);
    out = [];
    return passed;
  };
}
