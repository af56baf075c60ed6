import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { makePrivate } from './private-file.ts';

/** Pages copied between two looks at what else is to do. */
const PAGES = 1000;

/**
 * Copies the embedded database beside the running service, as of one moment. Answers what a check of the copy found
 * wrong, or null. `progress` gets whole per cents.
 */
export async function backUp(
  file: string,
  target: string,
  progress: (percent: number) => void,
): Promise<string | null> {
  makePrivate(target);
  const source = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  try {
    const report = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) =>
      progress(Math.floor(((totalPages - remainingPages) / totalPages) * 100));
    // Where another connection stores something between two looks, a copy begins again, unless its own reads all of one moment.
    source.exec('BEGIN');
    source.prepare('SELECT 1 FROM sqlite_schema').get();
    await backup(source, target, { rate: PAGES, progress: report });
  } finally {
    source.close();
  }
  return check(target);
}

/** Nothing writes to the copy, and a reader that knows it leaves no log and no index of it behind. */
function check(file: string): string | null {
  const copy = new DatabaseSync(`${pathToFileURL(file).href}?immutable=1`, { readOnly: true });
  try {
    const found = String(copy.prepare('PRAGMA quick_check').get()?.['quick_check']);
    return found === 'ok' ? null : found;
  } finally {
    copy.close();
  }
}
