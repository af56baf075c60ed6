import type { DiffLine } from './diff-lines.ts';

const LOOKS = { '+': 'added', '-': 'removed', ' ': 'kept' } as const;
const isSign = (sign: string): sign is keyof typeof LOOKS => sign in LOOKS;

/** The lines of a unified diff; a gap says where a hunk begins, and of several files which one. */
export function patchLines(patch: string, files: 'one' | 'several'): DiffLine[] {
  const found: DiffLine[] = [];
  // How many lines of the old and of the new text the hunk still has: a removed line may itself look like a header.
  let left = { old: 0, fresh: 0 };
  for (const line of patch.split('\n')) {
    const isHeader = left.old <= 0 && left.fresh <= 0;
    if (isHeader) {
      left = hunkOf(line);
      found.push(...gapOf(line, files));
      continue;
    }
    const [sign = ''] = line;
    if (!isSign(sign)) continue;
    left = { old: left.old - Number(sign !== '+'), fresh: left.fresh - Number(sign !== '-') };
    found.push({ sign, text: line.slice(1), look: LOOKS[sign] });
  }
  return found;
}

const HUNK = /^@@ -(?<line>\d+)(?:,(?<old>\d+))? \+\d+(?:,(?<fresh>\d+))? @@/;

/** How many lines of both texts follow; none where the line begins no hunk. */
function hunkOf(line: string): { old: number; fresh: number } {
  const groups = HUNK.exec(line)?.groups;
  if (!groups) return { old: 0, fresh: 0 };
  return { old: Number(groups['old'] ?? 1), fresh: Number(groups['fresh'] ?? 1) };
}

function gapOf(line: string, files: 'one' | 'several'): DiffLine[] {
  const from = HUNK.exec(line)?.groups?.['line'];
  if (from !== undefined) return Number(from) > 1 ? [gap(`line ${from}`)] : [];
  return files === 'several' && line.startsWith('+++ ') ? [gap(line.slice(4))] : [];
}

const gap = (text: string): DiffLine => ({ sign: '…', text, look: 'gap' });
