import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

interface Row {
  section: string;
  requirement: string;
  file: string;
  test: string;
}

function rowsOf(page: string): Row[] {
  return readFileSync(join(ROOT, page), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, section, requirement, file, name] = /^\| (\d\S*.*?) \| (.*?) \| `(.*?)` \| (.*) \|$/.exec(line) ?? [];
      return section && requirement && file && name ? [{ section, requirement, file, test: name }] : [];
    });
}
const rows = rowsOf('docs/requirements.md');
const gatewayRows = rowsOf('docs/requirements-gateway.md');

/** True where the file has the test's name in quotes; a group of a table of cases is a key or in the first column. */
function names(file: string, name: string): boolean {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return (
    ["'", '"', '`'].some((quote) => text.includes(`${quote}${name}${quote}`)) ||
    new RegExp(`GROUPS.*\\b${RegExp.escape(name)}\\b`).test(text)
  );
}

test('every requirement of the table has a test of that name', () => {
  const missing = [...rows, ...gatewayRows].filter(({ file, test: name }) => !names(file, name));
  expect(missing).toEqual([]);
});

test('every section that is asked for stands in the table', () => {
  const sections = new Set(rows.map(({ section }) => section.split(' ')[0]));
  expect([...sections].toSorted()).toEqual([
    '2.1',
    '2.10',
    '2.11',
    '2.12',
    '2.13',
    '2.2',
    '2.4',
    '2.5',
    '2.7',
    '2.9',
    '3',
    '4.1',
    '4.2',
    '4.3',
    '4.4',
    '4.5',
    '4.6',
    '5',
    '6',
    '7',
    '8',
    '9',
  ]);
  expect(rows.length).toBeGreaterThan(90);
});

test('every section that is asked of the gateway stands in its table', () => {
  const sections = new Set(gatewayRows.map(({ section }) => section));
  const rules = [1, 2, 3, 4, 5].map((rule) => `4 rule ${rule}`).concat([1, 2, 3, 4].map((rule) => `5 rule ${rule}`));
  for (const section of ['1', '2', '3', '4', '5', '7', '8', '9', ...rules]) expect(sections).toContain(section);
});

test.each(['1', '2', '4', '6', '7', '8', '9'])('rule %s of authentication has a row', (rule) => {
  expect(rows.some(({ section }) => section === `5 rule ${rule}`)).toBe(true);
});
