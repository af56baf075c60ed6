/** Invisible characters: controls, spaces, joiners, fillers, variation selectors. */
const INVISIBLE = /[\p{Cf}\p{Cc}\p{Z}\p{Default_Ignorable_Code_Point}\s]/gu;
const MAX_ROUNDS = 8;

/**
 * One form for all spellings of a name that look the same: compatibility form, lower case, no invisible characters.
 * Repeated, because removing a character can let its neighbours combine, or change the form of a final sigma. Upper case first,
 * because some letters have several spellings (ß, SS).
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
