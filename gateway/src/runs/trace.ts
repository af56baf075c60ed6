import type { TraceEntry } from '@signalbox/crds';

const MAX_ENTRIES = 500;
const MAX_CHARS = 512 * 1024;

/** What happened in a run, bounded: texts cut to what the caller asked for, the whole to what fits a frame. */
export class Trace {
  readonly entries: TraceEntry[] = [];
  private readonly textMaxChars: number;
  private chars = 0;

  constructor(textMaxChars: number) {
    this.textMaxChars = textMaxChars;
  }

  add(entry: TraceEntry): void {
    if (this.entries.length >= MAX_ENTRIES || this.chars > MAX_CHARS) return;
    this.chars += entry.input === undefined ? 200 : JSON.stringify(entry.input).length + 200;
    this.chars += entry.result?.length ?? 0;
    const fits = this.chars <= MAX_CHARS;
    this.entries.push(fits ? entry : { ...entry, input: undefined, result: '[cut: the trace is full]' });
  }

  cut(text: string): string {
    return text.length <= this.textMaxChars ? text : `${text.slice(0, this.textMaxChars)}…`;
  }
}
