/** Cuts a byte stream into lines and never holds more than `maxLineBytes` of one. */
export class LineReader {
  private readonly maxLineBytes: number;
  private readonly onLine: (line: string) => void;
  private parts: Buffer[] = [];
  private size = 0;

  constructor(maxLineBytes: number, onLine: (line: string) => void) {
    this.maxLineBytes = maxLineBytes;
    this.onLine = onLine;
  }

  /** False when the current line grew beyond the limit; the reader then holds nothing. */
  push(chunk: Buffer): boolean {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      if (!this.add(chunk.subarray(start, end))) return false;
      this.flush();
      start = end + 1;
    }
    return this.add(chunk.subarray(start));
  }

  private add(part: Buffer): boolean {
    if (part.length === 0) return true;
    this.parts.push(part);
    this.size += part.length;
    if (this.size <= this.maxLineBytes) return true;
    this.parts = [];
    this.size = 0;
    return false;
  }

  private flush(): void {
    const line =
      this.parts.length === 1 ? (this.parts[0] as Buffer).toString('utf8') : Buffer.concat(this.parts).toString('utf8');
    this.parts = [];
    this.size = 0;
    const trimmed = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (trimmed !== '') this.onLine(trimmed);
  }
}
