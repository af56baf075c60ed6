import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');
const cellsOf = (line: string): string[] => line.split(/(?<!\\)\|/).map((cell) => cell.trim());

interface Promised {
  threat: string;
  defence: string;
  test: string;
  remains: string;
}

/** The rows of tables about threats. */
const promises = (page: string): Promised[] =>
  read(page)
    .split('\n\n')
    .filter((block) => block.startsWith('| Threat'))
    .flatMap((block) => block.trim().split('\n').slice(2).map(promiseOf));

function promiseOf(line: string): Promised {
  const [, threat = '', defence = '', named = '', remains = ''] = cellsOf(line);
  return { threat, defence, test: named, remains };
}

/** Files with the titles that follow them in italics. */
const namedTests = (text: string): { file: string; title: string }[] =>
  [...text.matchAll(/`([^`]+\.test\.ts)`((?:,? \*[^*]+\*)*)/g)].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/\*([^*]+)\*/g)].map(([, title = '']) => ({ file, title })),
  );

/** True where the file has the title in quotes. */
function hasTest({ file, title }: { file: string; title: string }): boolean {
  if (!existsSync(join(ROOT, file))) return false;
  const text = read(file);
  return ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`));
}

const rows = promises('SECURITY.md');

test('every promise has a threat, a defence, a test by its title, and what remains', () => {
  expect(rows.length).toBeGreaterThan(30);
  const incomplete = rows.filter(
    ({ threat, defence, test: named, remains }) =>
      [threat, defence, remains].includes('') || namedTests(named).length === 0,
  );
  expect(incomplete).toEqual([]);
});

test('every test of a promise exists', () => {
  expect(rows.flatMap(({ test: named }) => namedTests(named)).filter((one) => !hasTest(one))).toEqual([]);
});

test.each(['SECURITY.md', 'docs/threat-model.md', 'docs/reliability.md'])(
  'every file of tests that %s names exists',
  (page) => {
    const files = [...read(page).matchAll(/`([^`\s]+\.test\.ts)`/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  },
);

test('a title or a file that is gone is missed', () => {
  const here = 'e2e/checks/security.test.ts';
  expect(hasTest({ file: here, title: 'a title or a file that is gone is missed' })).toBe(true);
  expect(hasTest({ file: here, title: ['a title', 'that nobody wrote'].join(' ') })).toBe(false);
  expect(hasTest({ file: 'e2e/checks/gone.test.ts', title: 'a title' })).toBe(false);
});
