let last = { ms: 0, text: '' };

/** A time in ISO 8601. The last text is kept: in a busy gateway many events share a millisecond. */
export function timestamp(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
