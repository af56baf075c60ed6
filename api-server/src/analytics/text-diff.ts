import { createTwoFilesPatch } from 'diff';

/** Changes up to which the shortest way from one text to the other is looked for; finding it takes their square. */
const MOST_CHANGES = 2_000;

/** A unified diff with three lines around each change; where too much changed, all of the old and all of the new text. */
export function unifiedDiff(before: Named, after: Named, mostChanges = MOST_CHANGES): string {
  if (mostChanges === 0) return replaced(before, after);
  const options = { context: 3, maxEditLength: mostChanges };
  const patch = createTwoFilesPatch(before.name, after.name, before.text, after.text, '', '', options);
  return patch === undefined
    ? replaced(before, after)
    : patch.replace(/^=+\n/, '').replace(/^(---|\+\+\+) (.*)\t$/gm, '$1 $2');
}

/** Milliseconds that the diffs of one answer may take together. */
const MOST_MS = 300;
/** Characters of them. */
const MOST_CHARS = 2 * 1024 * 1024;

/**
 * Diffs of one answer; those after the time was used up have all of the old and all of the new text, and those for which there is no room
 * only name the two.
 */
export function diffsInTime(mostChars = MOST_CHARS): (before: Named, after: Named) => string {
  let left = MOST_MS;
  let room = mostChars;
  return (before, after) => {
    if (before.text.length + after.text.length > room) return `--- ${before.name}\n+++ ${after.name}\n`;
    const began = performance.now();
    const diff = unifiedDiff(before, after, left > 0 ? MOST_CHANGES : 0);
    left -= performance.now() - began;
    room -= diff.length;
    return diff;
  };
}

export interface Named {
  name: string;
  text: string;
}

function replaced(before: Named, after: Named): string {
  const [old, fresh] = [before.text.split('\n'), after.text.split('\n')];
  return [
    `--- ${before.name}`,
    `+++ ${after.name}`,
    `@@ -1,${old.length} +1,${fresh.length} @@`,
    ...old.map((line) => `-${line}`),
    ...fresh.map((line) => `+${line}`),
    '',
  ].join('\n');
}
