const BITS = 32;

/**
 * Where a part with `?`, which is any character, ends in a text. All its beginnings are followed at once, each a bit,
 * so that the time is that of the text for every 32 characters of the part.
 */
export function findWild(part: string, text: string, from: number): number[] {
  const { size, any, masks } = placesOf(part);
  const begun = new Uint32Array(any.length);
  const none = new Uint32Array(any.length);
  const lastWord = begun.length - 1;
  const lastBit = 1 << ((size - 1) % BITS);
  const ends: number[] = [];
  let at = from;
  for (const char of text.slice(from)) {
    at += char.length;
    const mask = masks.get(char) ?? none;
    let carry = 1;
    for (let word = 0; word < begun.length; word += 1) {
      const bits = begun[word] as number;
      begun[word] = ((bits << 1) | carry) & ((mask[word] as number) | (any[word] as number));
      carry = bits >>> (BITS - 1);
    }
    if ((begun[lastWord] as number) & lastBit) ends.push(at);
  }
  return ends;
}

/** The places of each character in a part, and those of `?`. */
function placesOf(part: string) {
  const chars = [...part];
  const any = new Uint32Array(Math.ceil(chars.length / BITS));
  const masks = new Map<string, Uint32Array>();
  let index = 0;
  for (const char of chars) {
    const mask = char === '?' ? any : (masks.get(char) ?? new Uint32Array(any.length));
    const word = Math.floor(index / BITS);
    mask[word] = (mask[word] as number) | (1 << (index % BITS));
    if (char !== '?') masks.set(char, mask);
    index += 1;
  }
  return { size: chars.length, any, masks };
}
