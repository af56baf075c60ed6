/** How much a page may still show, and how long it may still look for differences. Shared by all texts of the page. */
export interface Budget {
  /** Takes the text's room on the page; false where there is too little left. */
  take(text: string): boolean;
  /** Whether there is time for a finer comparison. */
  hasTime(): boolean;
}

const MARKUP_BYTES = 120;
const ESCAPED = /[&<>"'`=]/g;
/** The longest escape, `&quot;`, in place of one byte. */
const ESCAPE_BYTES = 5;

export function createBudget({ bytes, ms }: { bytes: number; ms: number }): Budget {
  const ends = performance.now() + ms;
  let left = bytes;
  return {
    take: (text) => {
      left -= MARKUP_BYTES + Buffer.byteLength(text) + ESCAPE_BYTES * (text.match(ESCAPED)?.length ?? 0);
      return left >= 0;
    },
    hasTime: () => performance.now() < ends,
  };
}
