let last = { ms: 0, text: '' };

/** A time in ISO 8601; most of what a busy gateway tells shares its millisecond with something else. */
export function timestamp(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
