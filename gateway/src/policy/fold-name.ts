/** What nobody sees: controls, spaces, joiners, fillers, variation selectors. */
const INVISIBLE = /[\p{Cf}\p{Cc}\p{Z}\p{Default_Ignorable_Code_Point}\s]/gu;
const MAX_ROUNDS = 8;

/**
 * One form for all spellings of a name that a reader would take for the same: compatibility form, lower case, nothing invisible.
 * In rounds, because what stood between two characters may have kept them from becoming one, or a sigma from being the last. Over
 * capitals, because some are spelled otherwise (ß, SS).
 */
export function foldName(name: string): string {
  let folded = name;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = folded.normalize('NFKC').toUpperCase().toLowerCase().replace(INVISIBLE, '').normalize('NFKC');
    if (next === folded) break;
    folded = next;
  }
  return folded;
}
