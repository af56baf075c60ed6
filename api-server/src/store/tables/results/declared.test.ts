import type { KyselyPlugin } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NOW, openTestStore, type TestStore } from '../../../web/fixtures/store.ts';
import { createDeclared } from './declared.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const keep = (hash: string, steps: object[]) => {
  const row = { hash, kind: 'Pipeline', name: hash, body: JSON.stringify({ steps }), stored_at: NOW };
  return store.database.write((tx) => tx.db.insertInto('definitions').values(row).execute());
};
const step = (name: string, required: string[]) => ({ name, output_schema: { type: 'object', required } });

/** The database, and how many rows each answer of it has. */
function watched() {
  const rows: number[] = [];
  let under = 0;
  let together = 0;
  const watch: KyselyPlugin = {
    transformQuery: ({ node }) => {
      together = Math.max(together, (under += 1));
      return node;
    },
    transformResult: ({ result }) => {
      under -= 1;
      rows.push(result.rows.length);
      return Promise.resolve(result);
    },
  };
  return { db: store.database.db.withPlugin(watch), rows, most: () => together };
}

test('definitions are read one at a time, and once for lists that ask for them in one moment', async () => {
  const hashes = Array.from({ length: 20 }, (_, at) => `hash${at}`);
  for (const hash of hashes) await keep(hash, [step('look', [hash])]);
  const { db, rows, most } = watched();
  const readDeclared = createDeclared(db);
  const asked = [hashes, hashes.toReversed(), [...hashes, ...hashes]];
  for (const found of await Promise.all(asked.map(readDeclared))) {
    expect(found.size).toBe(20);
    for (const hash of hashes) expect(found.get(hash)?.get('look')?.required).toEqual([hash]);
  }
  expect([rows, most()]).toEqual([hashes.map(() => 1), 1]);
});

test('a hash that is not stored has nothing, and is asked for again', async () => {
  const readDeclared = createDeclared(store.database.db);
  expect(await readDeclared(['late'])).toEqual(new Map());
  await keep('late', [step('look', ['cause'])]);
  expect((await readDeclared(['late'])).get('late')?.has('look')).toBe(true);
});

test('of a definition that declares more names than are remembered, those of the steps that fit are known', async () => {
  const names = Array.from({ length: 500 }, (_, at) => `output_${at}`);
  const steps = Array.from({ length: 30 }, (_, at) => step(`step${at}`, names));
  await keep('wide', [...steps, step('last', ['cause'])]);
  const found = (await createDeclared(store.database.db)(['wide'])).get('wide');
  expect([found?.has('step0'), found?.has('step29'), found?.has('last')]).toEqual([true, false, true]);
  expect(found?.size).toBeLessThan(5);
});
