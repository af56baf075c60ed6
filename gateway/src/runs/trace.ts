import type { TraceEntry } from '@signalbox/crds';

const MAX_ENTRIES = 500;
const MAX_CHARS = 512 * 1024;

/** What happened in a run, bounded: texts cut to what the caller asked for, the whole to what fits a frame. */
export class Trace {
  /** Inputs as JSON texts: parsed, small objects take ten times as much, for as long as a run waits. */
  private readonly kept: TraceEntry[] = [];
  private readonly textMaxChars: number;
  private chars = 0;

  constructor(textMaxChars: number) {
    this.textMaxChars = textMaxChars;
  }

  add(entry: TraceEntry): void {
    if (this.kept.length >= MAX_ENTRIES || this.chars > MAX_CHARS) return;
    const input = entry.input === undefined ? undefined : JSON.stringify(entry.input);
    this.chars += 200 + (input?.length ?? 0) + (entry.result?.length ?? 0);
    const fits = this.chars <= MAX_CHARS;
    this.kept.push(fits ? { ...entry, input } : { ...entry, input: undefined, result: '[cut: the trace is full]' });
  }

  entries(): TraceEntry[] {
    return this.kept.map((entry) =>
      typeof entry.input === 'string' ? { ...entry, input: JSON.parse(entry.input) as unknown } : entry,
    );
  }

  cut(text: string): string {
    return text.length <= this.textMaxChars ? text : `${text.slice(0, this.textMaxChars)}…`;
  }
}
