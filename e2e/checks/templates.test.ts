import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const LIMIT = 160;
const PAGES = new URL('../../api-server/src/web/pages/', import.meta.url).pathname;

const longLines = (text: string): string[] => text.split('\n').filter((line) => line.length > LIMIT);

test('no line of a template is longer than people read', () => {
  const templates = globSync('**/*.hbs', { cwd: PAGES });
  expect(templates.length).toBeGreaterThan(40);
  const found = templates.flatMap((file) => longLines(readFileSync(PAGES + file, 'utf8')).map((line) => [file, line]));
  expect(found).toEqual([]);
  expect(longLines(`${'x'.repeat(LIMIT + 1)}\nshort`)).toHaveLength(1);
});
