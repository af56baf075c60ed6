export interface PromptPart {
  text: string;
  value: boolean;
}

/** A prompt cut at the offsets of the values that were put in; offsets that overlap or lie outside are ignored. */
export function promptParts(prompt: string, spans: readonly (readonly [number, number])[] = []): PromptPart[] {
  const parts: PromptPart[] = [];
  let at = 0;
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0])) {
    if (from < at || to <= from || to > prompt.length) continue;
    if (from > at) parts.push({ text: prompt.slice(at, from), value: false });
    parts.push({ text: prompt.slice(from, to), value: true });
    at = to;
  }
  if (at < prompt.length) parts.push({ text: prompt.slice(at), value: false });
  return parts;
}
