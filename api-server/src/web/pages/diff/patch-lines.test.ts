import { expect, test } from 'vitest';
import { unifiedDiff } from '../../../analytics/text-diff.ts';
import { patchLines } from './patch-lines.ts';

const text = (...lines: string[]) => `${lines.join('\n')}\n`;
const shown = (patch: string, files: 'one' | 'several' = 'one') =>
  patchLines(patch, files).map(({ sign, text: line }) => `${sign}${line}`);

test('lines keep their signs, and a gap says where a hunk begins', () => {
  const before = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`);
  const after = before.with(0, 'first').with(19, 'last');
  const patch = unifiedDiff({ name: 'a', text: text(...before) }, { name: 'b', text: text(...after) });
  expect(shown(patch)).toEqual([
    '-line 1',
    '+first',
    ' line 2',
    ' line 3',
    ' line 4',
    '…line 17',
    ' line 17',
    ' line 18',
    ' line 19',
    '-line 20',
    '+last',
  ]);
});

test('lines that look like headers of a diff are lines', () => {
  const before = text('-- old', '@@ -1,1 +1,1 @@', 'x');
  const after = text('++ new', '@@ -1,1 +1,1 @@', '++ b/file');
  const patch = unifiedDiff({ name: 'a', text: before }, { name: 'b', text: after });
  expect(shown(patch, 'several')).toEqual(['…b', '--- old', '+++ new', ' @@ -1,1 +1,1 @@', '-x', '+++ b/file']);
});

test('of several files each has its name, and a missing line break at an end is no line', () => {
  const one = unifiedDiff({ name: 'a/x', text: 'p' }, { name: 'b/x', text: 'q' });
  const two = unifiedDiff({ name: 'a/y', text: 'r\n' }, { name: 'b/y', text: 's\n' });
  expect(shown(one + two, 'several')).toEqual(['…b/x', '-p', '+q', '…b/y', '-r', '+s']);
});
