/** Comparisons up to which the engine's own search is used: its time can grow with the product of both lengths. */
const SHORT_WORK = 1_000_000;

/** `indexOf` in time that is linear in both texts, whatever they are (Knuth, Morris and Pratt). */
export function findText(text: string, wanted: string, from = 0): number {
  if ((text.length - from) * wanted.length <= SHORT_WORK || wanted.length > text.length - from)
    return text.indexOf(wanted, from);
  return finder(wanted)(text, from);
}

/** `split` in linear time. */
export function splitText(text: string, separator: string): string[] {
  if (text.length * separator.length <= SHORT_WORK) return text.split(separator);
  const find = finder(separator);
  const parts: string[] = [];
  let start = 0;
  for (let at = find(text, 0); at !== -1; at = find(text, start)) {
    parts.push(text.slice(start, at));
    start = at + separator.length;
  }
  return [...parts, text.slice(start)];
}

function finder(wanted: string): (text: string, from: number) => number {
  const borders = bordersOf(wanted);
  return (text, from) => {
    let matched = 0;
    for (let at = from; at < text.length; at++) {
      matched = extend(wanted, borders, { matched, char: text.charCodeAt(at) });
      if (matched === wanted.length) return at + 1 - matched;
    }
    return -1;
  };
}

/** For each length of a beginning of `wanted`, minus one: its longest other end that is also its beginning. */
function bordersOf(wanted: string): Int32Array {
  const borders = new Int32Array(wanted.length);
  for (let at = 1; at < wanted.length; at++)
    borders[at] = extend(wanted, borders, { matched: borders[at - 1] ?? 0, char: wanted.charCodeAt(at) });
  return borders;
}

function extend(wanted: string, borders: Int32Array, { matched, char }: { matched: number; char: number }): number {
  let length = matched;
  while (length > 0 && wanted.charCodeAt(length) !== char) length = borders[length - 1] ?? 0;
  return wanted.charCodeAt(length) === char ? length + 1 : length;
}
