const LF = 10;
const FIRST_CAPACITY = 4096;

/** Cuts a byte stream into lines and never holds more than `maxLineBytes` of one, however small its pieces are. */
export class LineReader {
  private readonly maxLineBytes: number;
  private readonly onLine: (line: string) => void;
  /** The beginning of a line, in the first `size` bytes. */
  private held = Buffer.alloc(0);
  private size = 0;

  constructor(maxLineBytes: number, onLine: (line: string) => void) {
    this.maxLineBytes = maxLineBytes;
    this.onLine = onLine;
  }

  /** False when the current line grew beyond the limit; the reader then holds nothing. */
  push(chunk: Buffer): boolean {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      const part = chunk.subarray(start, end);
      if (this.size + part.length > this.maxLineBytes) return this.drop(false);
      this.tell(this.size === 0 ? part : this.hold(part));
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    if (this.size + rest.length > this.maxLineBytes) return this.drop(false);
    if (rest.length > 0) this.hold(rest);
    return true;
  }

  /** Copied, so that thousands of small pieces cost no more than their bytes. */
  private hold(part: Buffer): Buffer {
    const needed = this.size + part.length;
    if (needed > this.held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(FIRST_CAPACITY, 2 * this.held.length, needed));
      this.held.copy(grown, 0, 0, this.size);
      this.held = grown;
    }
    part.copy(this.held, this.size);
    this.size = needed;
    return this.held.subarray(0, needed);
  }

  private tell(bytes: Buffer): void {
    const line = bytes.toString('utf8');
    this.drop(true);
    this.onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  private drop(answer: boolean): boolean {
    if (this.size > 0) this.held = Buffer.alloc(0);
    this.size = 0;
    return answer;
  }
}
