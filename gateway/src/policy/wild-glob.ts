const BITS = 32;

/**
 * Compiles a glob that has `?`, which is any character. All ways to read a text are followed at once, each a bit: how much of the glob
 * is read. So the time is that of the text for every 32 characters of the glob.
 */
export function compileWild(glob: string): (text: string) => boolean {
  const { size, stars, any, places } = placesOf(glob);
  return (text) => {
    const read = new Uint32Array(any.length);
    read[0] = 1;
    for (const char of text) {
      const wanted = places.get(char) ?? any;
      let carry = 0;
      for (let word = 0; word < read.length; word += 1) {
        const before = read[word] as number;
        const fits = before & ((wanted[word] as number) | (any[word] as number));
        read[word] = (fits << 1) | carry | (before & (stars[word] as number));
        carry = fits >>> (BITS - 1);
      }
    }
    return hasBit(read, size);
  };
}

/** The places of each character in a glob without its stars, those of `?`, and those that follow a star. */
function placesOf(glob: string) {
  const chars = [...glob];
  const newBits = () => new Uint32Array(Math.floor(chars.length / BITS) + 1);
  const [stars, any] = [newBits(), newBits()];
  const places = new Map<string, Uint32Array>();
  let size = 0;
  for (const char of chars) {
    if (char === '*') {
      setBit(stars, size);
      continue;
    }
    const own = char === '?' ? any : (places.get(char) ?? newBits());
    setBit(own, size);
    if (char !== '?') places.set(char, own);
    size += 1;
  }
  return { size, stars, any, places };
}

function setBit(bits: Uint32Array, place: number): void {
  const word = Math.floor(place / BITS);
  bits[word] = (bits[word] as number) | (1 << (place % BITS));
}

const hasBit = (bits: Uint32Array, place: number): boolean =>
  (((bits[Math.floor(place / BITS)] as number) >>> (place % BITS)) & 1) === 1;
