import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MUTANTS } from '../mutants/mutants.ts';

const ROOT = join(import.meta.dirname, '../..');

test('every fault can be planted: its text occurs once in its file, and its test file exists', () => {
  expect(MUTANTS.length).toBeGreaterThan(100);
  const unplantable = MUTANTS.filter(
    ({ file, find, put, tests }) =>
      find === put || readFileSync(join(ROOT, file), 'utf8').split(find).length !== 2 || !existsSync(join(ROOT, tests)),
  );
  expect(unplantable.map(({ file, what }) => `${file}: ${what}`)).toEqual([]);
});

test('every fault stands in the table of docs/reliability.md', () => {
  const page = readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8');
  const missing = MUTANTS.filter(({ area, what, tests }) => !page.includes(`| ${area} | ${what} | \`${tests}\` |`));
  expect(missing.map(({ what }) => what)).toEqual([]);
});
