const TOKEN = /\\(?:[pP](?:\{[^}]*\}|.)|[^])|\[(?:\\[^]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[^]/gu;
const COUNT = /^\{(\d+)(?:,(\d*))?\}$/;

/**
 * About how many instructions a pattern has with its repetitions written out, from its text alone: to compile a hundred thousand
 * takes a third of a second.
 */
export function patternSize(source: string): number {
  const open: number[] = [];
  let size = 0;
  let last = 0;
  for (const [token] of source.matchAll(TOKEN)) {
    const count = COUNT.exec(token);
    if (token === '(') {
      open.push(size);
      size = 0;
      last = 0;
    } else if (token === ')') {
      last = size + 2;
      size = (open.pop() ?? 0) + last;
    } else if (count) {
      const times = Math.max(1, Number(count[1]), Number(count[2] ?? 0));
      size += last * (times - 1);
      last *= times;
    } else {
      last = 1;
      size += 1;
    }
  }
  return open.reduce((sum, outer) => sum + outer, size);
}

/** What the repetitions in a text add to it. */
export const repetitionsIn = (text: string): number => Math.max(0, patternSize(text) - text.length);
