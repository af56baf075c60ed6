const INVISIBLE = /[\p{Cf}\p{Cc}\p{Z}\s]/gu;

/** One form for all spellings of a name that a reader would take for the same: compatibility form, lower case, no space or control character. */
export function foldName(name: string): string {
  return name.normalize('NFKC').toLowerCase().normalize('NFKC').replace(INVISIBLE, '');
}
