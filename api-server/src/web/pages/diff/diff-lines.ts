import { structuredPatch } from 'diff';

export interface DiffLine {
  sign: '+' | '-' | ' ' | '…';
  text: string;
  look: 'added' | 'removed' | 'kept' | 'gap';
}

const LOOKS = { '+': 'added', '-': 'removed', ' ': 'kept' } as const;
const MOST_MS = 200;

/** What changed from one text to another, with three lines around it; null where finding that out takes too long. */
export function diffLines(before: string, after: string, mostMs = MOST_MS): DiffLine[] | null {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, timeout: mostMs });
  if (patch === undefined) return null;
  return patch.hunks.flatMap(({ lines, oldStart }, index): DiffLine[] => {
    const gap: DiffLine[] = index === 0 && oldStart === 1 ? [] : [{ sign: '…', text: `line ${oldStart}`, look: 'gap' }];
    return [...gap, ...lines.flatMap(toLine)];
  });
}

/** A line that says that the last one has no line break is left out. */
function toLine(line: string): DiffLine[] {
  const [sign = ' '] = line;
  const isSign = (text: string): text is keyof typeof LOOKS => text in LOOKS;
  return isSign(sign) ? [{ sign, text: line.slice(1), look: LOOKS[sign] }] : [];
}
