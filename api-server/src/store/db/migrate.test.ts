import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { postgres, sqlite } from './dialect.ts';
import { migrations } from '../migrations/index.ts';

const ids = migrations.map(({ id }) => id);

test('migrations stand in the order of their numbers, each once, each in a file of its name', () => {
  expect(ids).toEqual([...new Set(ids)].toSorted());
  const files = readdirSync(join(import.meta.dirname, '../migrations')).filter((file) => file !== 'index.ts');
  expect(files.filter((name) => /^\d/.test(name)).toSorted()).toEqual(ids.map((id) => `${id}.ts`));
});

test('every column has its type from the words of the dialect', () => {
  const marked = Object.fromEntries(
    Object.entries(sqlite.words).map(([word, value]) => [word, typeof value === 'function' ? () => [] : `<${word}>`]),
  ) as unknown as typeof sqlite.words;
  const statements = migrations.flatMap(({ up }) => up(marked));
  expect(
    statements.filter((text) =>
      /\b(integer|bigint|real|double|boolean|text|blob|STRICT|AUTOINCREMENT)\b(?!>)/i.test(text),
    ),
  ).toEqual([]);
});

test('no migration asks Postgres for a table option that only SQLite has', () => {
  const statements = migrations.flatMap(({ up }) => up(postgres.words));
  expect(statements.filter((text) => /STRICT|WITHOUT ROWID|AUTOINCREMENT/.test(text))).toEqual([]);
});
